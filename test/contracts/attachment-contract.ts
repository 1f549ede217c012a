// Several clients on one session, wherever the session is: cursors, presence, snapshots, and who settles what
// (docs/explanation/guarantees.md).
import { describe, expect, it } from "vitest";
import type { SessionApi } from "../../src/api/kernel.ts";
import { textPart, toolSuccess } from "../../src/api/values/content.ts";
import type { ClientHook } from "../../src/api/values/hooks/hook.ts";
import type { Answer, InteractionFailure } from "../../src/api/values/interaction.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import type { Session } from "../../src/kernel/session/session.ts";
import { call, createModelGate, createScriptedModel, done, say } from "../support/models/scripted-model.ts";
import { attachReader, type EventReader, readJournal } from "../support/protocol/event-reader.ts";
import { createTalkingTools } from "../support/sessions/campaign-tools.ts";
import { createSessionSubject } from "../support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../support/sessions/turn-subject.ts";
import { createMemoryFiles } from "../support/store/memory-files.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const start = (session: SessionApi, input = "hi") => session.send({ type: "turn.start", input });
const upTo = (last: number, first = 1) =>
	Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
const approve = { kind: "approval", decision: "approve", feedback: "" } as const;
const declined = { kind: "error-reply", message: "no hands" } as const;
const edit = () => createToolDouble("E", { approval: editNeed, hasEffect: true });
const question = { questions: [{ question: "Which?", header: "W", options: [{ label: "a" }, { label: "b" }] }] };
const ask = call("c1", "AskUserQuestion", JSON.stringify(question));

function respond(
	session: SessionApi,
	client: EventReader | null,
	interactionId: string,
	answer: Answer | InteractionFailure,
) {
	const clientId = client === null ? {} : { clientId: client.attachment.id };
	return session.send({ type: "interaction.respond", interactionId, answer, ...clientId });
}

/** The way of a front end to a session in this process. */
export type Reach = (session: Session) => Promise<SessionApi>;

/** What a way to a session may not offer, because its clients do without. */
export type Lack =
	/** Clients that run tools, or subscribe to hooks. */
	| "tools"
	| "hooks"
	/** An attachment in place of an earlier one of the same client. */
	| "replacement"
	/** Clients that report that they failed to answer. */
	| "failures"
	/** Clients for which the model waits. */
	| "blocking"
	/** Clients that are delivered each delta as it was, or whose unread events the test can look at. */
	| "deltas"
	/** Plan mode apart from the other modes. */
	| "plan-mode";

/** Why a way to a session does without them, each in a sentence that its skipped cases show. */
export type Lacks = Readonly<Partial<Record<Lack, string>>>;

export function describeAttachments(name: string, reach: Reach, lacks: Lacks = {}): void {
	/** A case that needs this; where it is lacking, a skipped one that says why. */
	const unless = (needed: Lack) => (title: string, run: () => Promise<void>) => {
		const reason = lacks[needed];
		if (reason === undefined) it(title, run);
		else it.skip(`${title} (${reason})`, run);
	};
	const createSubject = async (...parts: Parameters<typeof createSessionSubject>) => {
		const subject = await createSessionSubject(...parts);
		return { ...subject, session: await reach(subject.session) };
	};

	describe(`${name}: several clients`, () => {
		/** A session that has had a turn. */
		async function createUsedSession() {
			const answers = Array.from({ length: 9 }, () => [say("one "), say("two"), done()]);
			const subject = await createSubject(createScriptedModel(answers));
			const { session } = subject;
			const first = await attachReader(session);
			await start(session);
			await first.event("turn.ended");
			first.attachment.close();
			const { cursor } = await session.snapshot();
			return { session, cursor };
		}

		/** A turn that waits for the approval of a call, with clients who were there before. */
		async function createAskingSession(names: readonly string[]) {
			const { session, double } = await createSubject(
				createScriptedModel([
					[call("c1", "E"), done()],
					[say("done"), done()],
				]),
				[edit()],
			);
			const clients: EventReader[] = [];
			for (const called of names) clients.push(await attachReader(session, { called }));
			await start(session);
			const [first] = clients;
			if (first === undefined) throw new Error("nobody is attached");
			const { body } = await first.event("interaction.requested");
			return { session, double, clients, first, id: body.interaction.id };
		}

		describe("a client with a cursor", () => {
			it.each(["the beginning", "the middle", "the head"])(
				"continues after %s, each durable event once",
				async (place) => {
					const { session, cursor } = await createUsedSession();
					const seq = { "the beginning": 0, "the middle": 2, "the head": cursor.seq }[place] ?? 0;
					const client = await attachReader(session, { after: { ...cursor, seq } });
					await start(session);
					await client.event("turn.ended", seq === 0 || seq === 2 ? 2 : 1);
					const journal = await readJournal(session);
					expect(client.numbers()).toEqual(upTo(journal.length, seq + 1));
					expect(client.types()).not.toContain("session.reset");
					const durable = client.events.filter((event) => event.seq !== undefined);
					expect(durable).toEqual(journal.slice(seq));
				},
			);

			it.each(["an older history", "numbers that do not exist yet"])(
				"of %s gets a reset and all from the first",
				async (what) => {
					const { session, cursor } = await createUsedSession();
					const after = what === "an older history" ? { epoch: "before", seq: 2 } : { ...cursor, seq: cursor.seq + 1 };
					const client = await attachReader(session, { after });
					await client.settled();
					expect(client.types()[0]).toBe("session.reset");
					expect(client.types().filter((type) => type === "session.reset")).toHaveLength(1);
					expect(client.numbers()).toEqual(upTo(cursor.seq));
				},
			);

			it("is not needed: then only what comes is delivered", async () => {
				const { session, cursor } = await createUsedSession();
				const client = await attachReader(session);
				expect(client.attachment.snapshot.cursor).toEqual(cursor);
				await start(session);
				await client.event("turn.ended");
				expect(client.numbers()[0]).toBe(cursor.seq + 1);
			});

			it("may have what was read back before, also while a batch is being stored", async () => {
				const { session, double } = await createSubject(createScriptedModel([[say("a"), done()]]));
				const early = await attachReader(session, { after: { epoch: "none", seq: 0 } });
				double.hold = createDeferred();
				const started = start(session);
				await settled();
				const { cursor } = await session.snapshot();
				const again = await attachReader(session, { after: { ...cursor, seq: early.numbers().at(-1) ?? 0 } });
				double.hold.resolve();
				await started;
				await again.event("turn.ended");
				expect(again.types()).not.toContain("session.reset");
			});
		});

		describe("presence", () => {
			it("is told to the others, and not to whom it is about", async () => {
				const { session } = await createSubject(createScriptedModel([]));
				const one = await attachReader(session, { called: "one" });
				const two = await attachReader(session, { called: "two" });
				expect((await one.event("client.attached")).body).toMatchObject({ clientId: two.attachment.id, name: "two" });
				two.attachment.close();
				expect((await one.event("client.detached")).body).toMatchObject({ clientId: two.attachment.id, name: "two" });
				await one.settled();
				expect(two.types()).toEqual([]);
				expect(one.types()).toEqual(["client.attached", "client.detached"]);
				expect(await readJournal(session)).toEqual([]);
			});

			it("is in the snapshot", async () => {
				const { session } = await createSubject(createScriptedModel([]));
				const one = await attachReader(session, { called: "one" });
				const two = await attachReader(session, { called: "two" });
				expect(two.attachment.snapshot.clients.map(({ name }) => name)).toEqual(["one"]);
				one.attachment.close();
				expect((await session.snapshot()).clients).toEqual([
					{ clientId: two.attachment.id, name: "two", version: null },
				]);
			});

			unless("replacement")("does not change when a client replaces its attachment", async () => {
				const { session } = await createSubject(createScriptedModel([]));
				const one = await attachReader(session, { called: "one" });
				const two = await attachReader(session, { called: "two" });
				const again = await attachReader(session, { called: "two", replaces: two.attachment.id });
				expect(again.attachment.id).toBe(two.attachment.id);
				// The end of the attachment that was replaced is not the end of the client.
				two.attachment.close();
				await one.settled();
				expect(one.types()).toEqual(["client.attached"]);
				expect((await session.snapshot()).clients).toHaveLength(2);
			});

			unless("deltas")("does not fill the queue of a client that reads nothing", async () => {
				const { session } = await createSubject(createScriptedModel([]));
				const idle = await attachReader(session, { reads: false });
				for (let n = 0; n < 2_000; n += 1) (await attachReader(session, { reads: false })).attachment.close();
				const { value } = await idle.attachment.events[Symbol.asyncIterator]().next();
				expect(value?.length).toBeLessThanOrEqual(512);
			});
		});

		describe("a snapshot", () => {
			it("has the texts that are not complete, and the deltas that follow continue them without a gap", async () => {
				const gate = createModelGate();
				const { session } = await createSubject(
					createScriptedModel([[say("one "), say("two "), gate, say("three"), done()]]),
				);
				const first = await attachReader(session);
				await start(session);
				await gate.reached;
				await first.settled();
				const late = await attachReader(session);
				const { unfinished, turnId, cursor } = late.attachment.snapshot;
				expect(unfinished).toEqual([
					{ agentPath: [], body: { type: "content.completed", part: textPart("one two ") } },
				]);
				expect([turnId, cursor.seq]).toEqual([first.events[0]?.turnId, first.numbers().at(-1)]);
				gate.open();
				const { body } = await late.event("content.delta");
				expect(body).toEqual({ type: "content.delta", part: textPart("three"), offset: "one two ".length });
				await late.event("turn.ended");
				expect(late.numbers()[0]).toBe(cursor.seq + 1);
			});

			it("has no text that was not delivered yet: it is in the deltas that follow", async () => {
				const gate = createModelGate();
				const { session, double } = await createSubject(
					createScriptedModel([[say("one "), gate, say("two "), gate, done()]]),
				);
				const first = await attachReader(session);
				await start(session);
				await gate.reached;
				await first.settled();
				// While an event is being stored, later ones wait.
				double.hold = createDeferred();
				const naming = session.send({ type: "title.set", title: "A title" });
				while (!double.writes.includes("title.changed")) await settled();
				gate.open();
				for (let turn = 0; turn < 5; turn += 1) await settled();
				const late = await attachReader(session);
				expect(late.attachment.snapshot.unfinished).toEqual([
					{ agentPath: [], body: { type: "content.completed", part: textPart("one ") } },
				]);
				double.hold.resolve();
				await naming;
				await late.event("turn.ended");
			});

			it("has the open requests as they were delivered, and none that was not", async () => {
				const gate = createModelGate();
				const { session, double } = await createSubject(
					createScriptedModel([
						[call("c1", "E"), gate, done()],
						[say("done"), done()],
					]),
					[edit()],
				);
				const first = await attachReader(session);
				await start(session);
				await gate.reached;
				const holds = [createDeferred<void>()];
				[double.hold = null] = holds;
				gate.open();
				// Every write is held for a while, and that of the request until somebody has attached.
				while (!double.writes.includes("interaction.requested")) {
					holds[0]?.resolve();
					holds[0] = createDeferred();
					double.hold = holds[0];
					await settled();
				}
				const early = await attachReader(session);
				expect(early.attachment.snapshot.openInteractions).toEqual([]);
				holds[0]?.resolve();
				double.hold = null;
				const requested = await early.event("interaction.requested");
				const late = await attachReader(session);
				expect(late.attachment.snapshot.openInteractions).toEqual([requested]);
				await respond(session, late, requested.body.interaction.id, approve);
				await first.event("turn.ended");
				expect((await session.snapshot()).openInteractions).toEqual([]);
			});

			unless("plan-mode")("has the mode", async () => {
				const { session } = await createSubject(createScriptedModel([]), [], { yolo: true });
				await session.send({ type: "plan-mode.set", enabled: true });
				expect(await session.snapshot()).toMatchObject({ approvesEverything: true, isAway: false, planMode: true });
			});
		});

		describe("detaching", () => {
			it("stops neither the session nor its turn", async () => {
				const gate = createModelGate();
				const { session } = await createSubject(createScriptedModel([[say("one"), gate, done()]]));
				const first = await attachReader(session);
				const { turnId } = await start(session);
				await gate.reached;
				first.attachment.close();
				expect((await session.snapshot()).turnId).toBe(turnId);
				const { cursor } = await session.snapshot();
				const second = await attachReader(session, { after: { ...cursor, seq: 0 } });
				gate.open();
				expect((await second.event("turn.ended")).body.outcome).toEqual({ status: "finished" });
			});

			unless("deltas")("ends what the client still reads at that moment", async () => {
				const { session, cursor } = await createUsedSession();
				const client = await attachReader(session, { after: { ...cursor, seq: 0 }, reads: false });
				client.attachment.close();
				const other = await attachReader(session);
				await start(session);
				await other.event("turn.ended");
				const seen: number[] = [];
				for await (const batch of client.attachment.events) seen.push(...batch.flatMap(({ seq }) => seq ?? []));
				expect(seen).toEqual(upTo(cursor.seq));
			});
		});

		describe("the first valid answer", () => {
			it("wins, and everybody learns who gave it", async () => {
				const { session, clients, id } = await createAskingSession(["one", "two", "three"]);
				const [one = null, two = null, three = null] = clients;
				const by = { kind: "client", clientId: two?.attachment.id, name: "two" };
				expect(await respond(session, two, id, approve)).toEqual({ settled: true, by });
				expect(await respond(session, one, id, { ...approve, decision: "reject" })).toEqual({ settled: false, by });
				expect(await respond(session, two, id, approve)).toEqual({ settled: false, by });
				for (const client of [one, two, three]) {
					expect((await client?.event("interaction.resolved"))?.body).toMatchObject({
						interactionId: id,
						answer: approve,
						by,
					});
					await client?.event("turn.ended");
					expect(client?.types().filter((type) => type === "interaction.resolved")).toHaveLength(1);
				}
				if (lacks.failures === undefined) {
					expect(await respond(session, one, id, declined)).toEqual({ settled: false, by });
				}
			});

			for (const [what, failure, offer] of [
				["an error reply", declined, unless("failures")],
				["an unusable answer", { kind: "malformed" }, unless("failures")],
				["an answer of another kind", { kind: "question", answers: {} }, it],
			] as const) {
				offer(`may come after ${what} of another client, which leaves the request open`, async () => {
					const { session, first, clients, id } = await createAskingSession(["one", "two"]);
					const [one = null, two = null] = clients;
					expect(await respond(session, one, id, failure)).toEqual({ settled: false, by: null });
					expect((await session.snapshot()).openInteractions).toHaveLength(1);
					expect(await respond(session, two, id, approve)).toMatchObject({ settled: true });
					expect((await first.event("interaction.resolved")).body.by).toMatchObject({ name: "two" });
				});
			}

			unless("failures")("is not waited for when every client has declined", async () => {
				const { session, first, clients, id } = await createAskingSession(["one", "two"]);
				const [one = null, two = null] = clients;
				await respond(session, one, id, declined);
				expect(await respond(session, two, id, declined)).toEqual({ settled: true, by: declined });
				expect((await first.event("interaction.resolved")).body.answer).toMatchObject({ decision: "reject" });
			});

			unless("failures")("is waited for although a client that declines is not asked twice", async () => {
				const { session, clients, id } = await createAskingSession(["one", "two"]);
				const [one = null] = clients;
				await respond(session, one, id, declined);
				expect(await respond(session, one, id, declined)).toEqual({ settled: false, by: null });
			});
		});

		describe("a request that no attached client can answer", () => {
			const declaration = { name: "ide", description: "", parameters: { type: "object" } };

			async function createToolSession() {
				const { session } = await createSubject(
					createScriptedModel([
						[call("c1", "ide"), done()],
						[say("done"), done()],
					]),
				);
				const watcher = await attachReader(session, { called: "watcher" });
				return { session, tools: [declaration], watcher };
			}

			unless("tools")("is settled when the last client with the tool leaves, not before", async () => {
				const { session, tools, watcher } = await createToolSession();
				const one = await attachReader(session, { tools });
				const two = await attachReader(session, { tools });
				await start(session);
				const { body } = await two.event("interaction.requested");
				one.attachment.close();
				await watcher.event("client.detached");
				expect((await session.snapshot()).openInteractions).toHaveLength(1);
				expect(await respond(session, two, body.interaction.id, declined)).toEqual({ settled: true, by: declined });
				await watcher.event("turn.ended");
			});

			unless("tools")("is settled when its client leaves", async () => {
				const { session, tools, watcher } = await createToolSession();
				const one = await attachReader(session, { tools });
				await start(session);
				await one.event("interaction.requested");
				one.attachment.close();
				expect((await watcher.event("interaction.resolved")).body.by).toEqual({ kind: "client-gone" });
				await watcher.event("turn.ended");
			});

			unless("tools")("is settled when its client attaches anew without the tool", async () => {
				const { session, tools, watcher } = await createToolSession();
				const one = await attachReader(session, { tools });
				await start(session);
				await one.event("interaction.requested");
				await attachReader(session, { replaces: one.attachment.id });
				expect((await watcher.event("interaction.resolved")).body.by).toEqual({ kind: "client-gone" });
				await watcher.event("turn.ended");
			});

			unless("tools")("stays open when its client attaches anew with the tool", async () => {
				const { session, tools, watcher } = await createToolSession();
				const one = await attachReader(session, { tools });
				await start(session);
				const { body } = await one.event("interaction.requested");
				const again = await attachReader(session, { tools, replaces: one.attachment.id });
				expect(again.attachment.snapshot.openInteractions).toHaveLength(1);
				const result = toolSuccess({ output: "o" });
				await respond(session, again, body.interaction.id, { kind: "client-tool", result });
				expect((await watcher.event("tool.result")).body.result).toEqual(result);
			});

			it("is a question whose clients are gone", async () => {
				const { session } = await createSubject(
					createScriptedModel([
						[ask, done()],
						[say("done"), done()],
					]),
					[],
					{
						createTools: async (operations) => createTalkingTools(operations, createMemoryFiles()),
					},
				);
				const watcher = await attachReader(session, { approves: false });
				const one = await attachReader(session, { capabilities: ["questions"] });
				const two = await attachReader(session, { capabilities: ["questions"] });
				await start(session);
				await watcher.event("interaction.requested");
				one.attachment.close();
				expect((await session.snapshot()).openInteractions).toHaveLength(1);
				two.attachment.close();
				expect((await watcher.event("interaction.resolved")).body).toMatchObject({
					answer: { kind: "question", answers: {} },
					by: { kind: "client-gone" },
				});
				await watcher.event("turn.ended");
			});
		});

		describe("a hook of a client", () => {
			const hook: ClientHook = {
				kind: "client",
				event: "UserPromptSubmit",
				matcher: "",
				timeout: 30,
				subscriptionId: "mine",
			};

			unless("hooks")(
				"is requested of the client that subscribed, also when another has a subscription of the same name",
				async () => {
					const { session } = await createSubject(createScriptedModel([[say("a"), done()]]));
					const one = await attachReader(session, { called: "one", hooks: [hook] });
					const two = await attachReader(session, { called: "two", hooks: [{ ...hook, event: "Stop" }] });
					const started = start(session);
					const { interaction } = (await two.event("interaction.requested")).body;
					expect(interaction).toMatchObject({ kind: "hook", subscriptionId: "mine", clientId: one.attachment.id });
					await respond(session, one, interaction.id, { kind: "hook", action: "block", reason: "no" });
					await started;
					expect((await two.event("hook.resolved")).body).toMatchObject({ action: "block", reason: "no" });
				},
			);

			unless("hooks")("allows at once when the client leaves, also before it is asked", async () => {
				const { session, double } = await createSubject(createScriptedModel([[say("a"), done()]]));
				const watcher = await attachReader(session, { called: "watcher", hooks: [] });
				const one = await attachReader(session, { called: "one", hooks: [hook] });
				double.hold = createDeferred();
				const started = start(session);
				while (!double.writes.includes("hook.triggered")) await settled();
				one.attachment.close();
				double.hold.resolve();
				double.hold = null;
				await started;
				for (let turn = 0; turn < 50 && !watcher.types().includes("hook.resolved"); turn += 1) await settled();
				expect(watcher.types()).toContain("hook.resolved");
			});
		});

		describe("a client that reads nothing", () => {
			it("delays nobody when it is droppable, and has everything when it reads", async () => {
				const script = [...Array.from({ length: 1_000 }, (_, n) => say(String(n % 10))), done()];
				const { session } = await createSubject(createScriptedModel([script, script]));
				const idle = await attachReader(session, { flow: "droppable", reads: false });
				const fast = await attachReader(session);
				for (const n of [1, 2]) {
					await start(session);
					await fast.event("turn.ended", n);
				}
				const deltas = fast.types().filter((type) => type === "content.delta");
				if (lacks.deltas === undefined) expect(deltas).toHaveLength(2_000);
				const seen: number[] = [];
				for await (const batch of idle.attachment.events) {
					seen.push(...batch.flatMap(({ seq }) => seq ?? []));
					if (seen.length === fast.numbers().length) break;
				}
				expect(seen).toEqual(fast.numbers());
			});

			unless("blocking")("makes the model wait when it is blocking, until it leaves", async () => {
				const script = [...Array.from({ length: 1_000 }, (_, n) => say(String(n % 10))), done()];
				const { session } = await createSubject(createScriptedModel([script]));
				const idle = await attachReader(session, { reads: false });
				const fast = await attachReader(session);
				await start(session);
				for (let turn = 0; turn < 20; turn += 1) await settled();
				expect(fast.types()).not.toContain("turn.ended");
				idle.attachment.close();
				await fast.event("turn.ended");
			});
		});
	});
}
