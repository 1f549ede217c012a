// The kernel API as every front end has it, wherever the kernel is: sessions are created, acquired, used and listed, and
// errors say the same.
import { describe, expect, it, vi } from "vitest";
import type { Attachment, SessionApi, SessionsApi } from "../../src/api/kernel.ts";
import type { CreationOptions } from "../../src/api/session-options.ts";
import type { HistoryEntry } from "../../src/api/values/conversation.ts";
import type { AgentEvent } from "../../src/api/values/event.ts";
import type { ClientHook } from "../../src/api/values/hooks/hook.ts";
import { toSessionMode } from "../../src/api/values/session-mode.ts";
import { plainRequest } from "../../src/kernel/hosting/hosted-options.ts";
import { createMemoryStore } from "../../src/ports/store/memory/memory-store.ts";
import { attachReader, readJournal } from "../support/protocol/event-reader.ts";
import { plainAttachment } from "../support/sessions/session-doubles.ts";
import { createHost, type HostSettings, runTurn } from "../support/sessions/session-host.ts";

/** The way of a front end to the sessions of a kernel. */
export type ReachSessions = (sessions: SessionsApi) => Promise<SessionsApi>;

const unknownId = "01936f8a-7b2c-7000-8000-000000000001";
const begun = { type: "system-prompt", content: "Be brief." } as const;
const withTools: CreationOptions = { ...plainRequest, tools: "all" };

const hook: ClientHook = {
	kind: "client",
	event: "UserPromptSubmit",
	matcher: "",
	timeout: 30,
	subscriptionId: "mine",
};

/** What a way to the sessions may not offer, because its clients do without. */
export type SessionsLack =
	/** Clients that run tools. */
	| "client-tools"
	/** Sessions without tools. */
	| "toolless"
	/** Sessions that stay loaded for whoever has created or acquired them. */
	| "holding"
	/** The conversation as the model sees it. */
	| "conversation"
	/** A message in place of one that a fork leaves out. */
	| "replacement"
	/** An error for a cursor of another history. */
	| "cursor-error"
	/** Versions of clients. */
	| "versions"
	/** What is given anew whenever a session is opened. */
	| "opening"
	/** What is added to the context besides prompts. */
	| "context"
	/** Sessions that are unloaded on request, or removed because their first turn could not begin. */
	| "unloading"
	/** To wait for background tasks, and to end them all. */
	| "background"
	/** The end of one session alone, and faults in its work. */
	| "ending";

/** Why a way does without them, each in a sentence that its skipped cases show. */
export type SessionsLacks = Readonly<Partial<Record<SessionsLack, string>>>;

export function describeSessions(name: string, reach: ReachSessions, lacks: SessionsLacks = {}): void {
	/** A case that needs this; where it is lacking, a skipped one that says why. */
	const unless = (needed: SessionsLack) => (title: string, run: () => Promise<void>) => {
		const reason = lacks[needed];
		if (reason === undefined) it(title, run);
		else it.skip(`${title} (${reason})`, run);
	};
	const has = (needed: SessionsLack): boolean => lacks[needed] === undefined;
	const createSubject = async (limits: object = {}, settings: HostSettings = {}) => {
		const subject = await createHost(limits, settings);
		/** The session where it runs, held by nobody. */
		const inKernel = async ({ id }: SessionApi): Promise<SessionApi> => {
			const handle = await subject.host.acquire(id);
			handle.release();
			return handle.session;
		};
		/** A client in the kernel's own process whose hook is not answered: turns that have begun wait for it. */
		const attachHolding = async (session: SessionApi, event: ClientHook["event"] = "Stop") =>
			await attachReader(await inKernel(session), { approves: false, hooks: [{ ...hook, event }] });
		return { ...subject, sessions: await reach(subject.host), inKernel, attachHolding };
	};
	/** What is said in a session; nothing where that cannot be read. */
	const messagesOf = async (session: SessionApi): Promise<readonly HistoryEntry[]> =>
		has("conversation") ? (await session.conversation()).messages : [];
	const list = async (events: AsyncIterable<readonly AgentEvent[]>): Promise<readonly AgentEvent[]> => {
		const all: AgentEvent[] = [];
		for await (const batch of events) all.push(...batch);
		return all;
	};

	describe(`${name}: the sessions of a kernel`, () => {
		it("are created with options and acquired by their ids", async () => {
			const { sessions } = await createSubject();
			const created = await sessions.create({ ...plainRequest, workDir: "/other" });
			const { id } = created.session;
			expect(created.session.workDir).toBe("/other");
			expect(created.info).toEqual({
				id,
				workDir: "/other",
				model: "echo",
				provider: "p",
				isRunning: false,
				isWaiting: false,
				labels: {},
			});
			const acquired = await sessions.acquire(id);
			expect(acquired.session).toBe(created.session);
			created.release();
			expect((await sessions.acquire(id)).session).toBe(created.session);
			expect(await sessions.loaded()).toEqual([created.info]);
		});

		it("are listed as running, and as waiting while somebody has to answer", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(withTools);
			const client = await attachReader(handle.session, { approves: true });
			const states = async () => (await sessions.loaded()).map(({ isRunning, isWaiting }) => [isRunning, isWaiting]);
			expect(await states()).toEqual([[false, false]]);
			const call = { id: "c", name: "WriteFile", arguments: JSON.stringify({ path: "/work/new", content: "x" }) };
			await handle.startTurn(`tool_call: ${JSON.stringify(call)}`);
			await client.event("interaction.requested");
			expect(await states()).toEqual([[true, true]]);
			await sessions.interrupt(handle.session.id);
			await client.event("turn.ended");
			await vi.waitFor(async () => expect(await states()).toEqual([[false, false]]));
		});

		it("pass on why they cannot be created or acquired", async () => {
			const { sessions } = await createSubject({ loaded_sessions: 1 });
			await expect(sessions.acquire(unknownId)).rejects.toMatchObject({
				name: "KernelError",
				code: "session-not-found",
				message: expect.stringContaining(unknownId),
			});
			await expect(sessions.create({ ...plainRequest, model: "none" })).rejects.toMatchObject({
				code: "model-not-set",
			});
			await expect(sessions.create({ ...plainRequest, workDir: "x" })).rejects.toMatchObject({ code: "invalid-input" });
			const { session } = await sessions.create(plainRequest);
			// One that a client is attached to is in use.
			await attachReader(session);
			await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "overloaded", data: { limit: 1 } });
		});

		unless("holding")("may be unloaded as soon as everybody has released them", async () => {
			const { sessions } = await createSubject({ loaded_sessions: 1 });
			const one = await sessions.create(plainRequest);
			const again = await sessions.acquire(one.session.id);
			one.release();
			await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "overloaded" });
			again.release();
			await sessions.create(plainRequest);
		});

		it("run turns, whose events reach the client in order and are stored", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { session } = handle;
			const client = await attachReader(session, { called: "one" });
			const { turnId } = await handle.startTurn("text: hello\nthink: why\ntext: again");
			await client.event("turn.ended");
			expect(client.events.every((event) => event.turnId === turnId)).toBe(true);
			expect(client.types()).toContain("content.delta");
			expect(await list(session.events())).toEqual(client.events.filter(({ seq }) => seq !== undefined));
			const said = has("conversation") ? ["user", "assistant"] : [];
			expect((await messagesOf(session)).map(({ role }) => role)).toEqual(said);
		});

		it("start one turn for a key, however often it is requested, also in a later process", async () => {
			const store = createMemoryStore();
			const { sessions, kernel, attachHolding } = await createSubject({ running_turns: 1 }, { store });
			const handle = await sessions.create(plainRequest);
			const { session } = handle;
			const client = await attachReader(session);
			// It holds each turn at its end.
			await attachHolding(session, "Stop");
			const [one, again] = await Promise.all([
				handle.startTurn("text: hello", { key: "k1" }),
				session.send({ type: "turn.start", input: "text: hello", key: "k1" }),
			]);
			expect(again).toEqual(one);
			expect(await handle.startTurn("text: hello", { key: "k1" })).toEqual(one);
			await expect(handle.startTurn("text: other", { key: "k1" })).rejects.toMatchObject({ code: "invalid-input" });
			await expect(handle.startTurn("text: other", { key: "k2" })).rejects.toMatchObject({ code: "busy" });
			await session.send({ type: "turn.cancel" });
			await client.event("turn.ended");
			const two = await handle.startTurn("text: other", { key: "k2" });
			expect(two.turnId).not.toBe(one.turnId);
			await sessions.stop();
			await kernel.close();
			const { sessions: later } = await createSubject({}, { store });
			const opened = await later.acquire(session.id);
			expect(await opened.startTurn("text: hello", { key: "k1" })).toEqual(one);
			expect(await opened.startTurn("text: other", { key: "k2" })).toEqual(two);
			const started = (await readJournal(opened.session)).filter(({ body }) => body.type === "turn.started");
			expect(started.map(({ turnId, body }) => [turnId, body])).toEqual([
				[one.turnId, { type: "turn.started", input: "text: hello", key: "k1", enters_context: true }],
				[two.turnId, { type: "turn.started", input: "text: other", key: "k2", enters_context: true }],
			]);
		});

		it("have stored events after a cursor", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			await runTurn(handle);
			const { session } = handle;
			const { cursor } = await session.snapshot();
			const all = await readJournal(session);
			expect(all).toHaveLength(cursor.seq);
			expect(await list(session.events({ ...cursor, seq: 2 }))).toEqual(all.slice(2));
			expect(await list(session.events(cursor))).toEqual([]);
		});

		unless("cursor-error")("have no stored events for a cursor of another history", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(plainRequest);
			const older = async () => await list(session.events({ epoch: "older", seq: 1 }));
			await expect(older()).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("describe themselves", async () => {
			const hooks = [{ event: "Stop", command: "look", matcher: "x", timeout: 5 }];
			const { sessions } = await createSubject({}, { hooks });
			const { session } = await sessions.create(withTools);
			const { slashCommands, commandHooks, models, modes } = await session.send({ type: "session.describe" });
			expect(modes).toEqual(["default", "plan", "auto", "yolo"]);
			expect(models).toEqual((await sessions.models()).options);
			expect(slashCommands.map(({ name: command }) => command)).toContain("compact");
			expect(commandHooks).toEqual([
				{ kind: "command", event: "Stop", command: "look", matcher: "x", timeout: 5, failClosed: false },
			]);
			const client = { name: "mine", version: "1" };
			const attachment = await session.attach({ ...plainAttachment, client });
			const { cursor, ...snapshot } = await session.snapshot();
			expect(snapshot).toEqual({
				sessionId: session.id,
				workDir: "/work",
				turnId: null,
				hasHistory: false,
				planMode: false,
				approvesEverything: false,
				isAway: false,
				model: { alias: "m", name: "echo", provider: "p", thinking: false },
				thinkingBudget: null,
				title: null,
				openInteractions: [],
				unfinished: [],
				clients: [{ clientId: attachment.id, ...client, ...(has("versions") ? {} : { version: null }) }],
			});
			expect(cursor.seq).toBe(0);
		});

		it("are set to a mode, whose changes every client learns", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			const client = await attachReader(session);
			for (const mode of ["plan", "yolo", "auto", "default"] as const) {
				expect(await session.send({ type: "mode.set", mode })).toEqual({ mode });
				expect(toSessionMode(await session.snapshot())).toBe(mode);
			}
			await client.event("mode.changed", 4);
			expect(client.events.flatMap(({ body }) => (body.type === "mode.changed" ? [body.mode] : []))).toEqual([
				"plan",
				"yolo",
				"auto",
				"default",
			]);
		});

		unless("toolless")("are refused plan mode where they have no tools for it", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(plainRequest);
			for (const command of [
				{ type: "mode.set", mode: "plan" },
				{ type: "plan-mode.set", enabled: true },
			] as const) {
				await expect(session.send(command)).rejects.toMatchObject({ code: "unsupported" });
			}
		});

		it("can be given the models of the settings, with what they accept and cost", async () => {
			const models = {
				m: { provider: "p", model: "echo", max_context_size: 1000 },
				best: {
					provider: "p",
					model: "echo-thinking",
					display_name: "The best",
					max_context_size: 5000,
					capabilities: ["image_in"],
					price: { input: 2, output: 6, cache_read: 0.5 },
				},
			};
			const { sessions } = await createSubject({}, { models });
			const plain = { provider: "p", price: null, accepts: { image: false, audio: true, video: false } };
			expect(await sessions.models()).toEqual({
				chosen: "m",
				options: [
					{ ...plain, alias: "m", name: "echo", maxContextSize: 1000, thinking: "never" },
					{
						...plain,
						alias: "best",
						name: "The best",
						maxContextSize: 5000,
						thinking: "always",
						accepts: { image: true, audio: true, video: false },
						price: { currency: "USD", input: 2, output: 6, cacheRead: 0.5, cacheCreation: 2 },
					},
				],
			});
			const { session } = await sessions.create({ ...plainRequest, model: "best", thinking: false });
			const { model } = await session.snapshot();
			expect(model).toEqual({ alias: "best", name: "The best", provider: "p", thinking: true });
		});

		it("gives a session a title, which every client is told and which stays", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { session } = handle;
			const client = await attachReader(session);
			expect(await session.send({ type: "title.set", title: " A\ttitle " })).toEqual({ title: "A title" });
			const event = await client.event("title.changed");
			expect(event.body).toEqual({ type: "title.changed", title: "A title" });
			expect(event.seq).toBe(1);
			await expect(session.send({ type: "title.set", title: " " })).rejects.toMatchObject({ code: "invalid-input" });
			await runTurn(handle);
			expect((await session.snapshot()).title).toBe("A title");
			const { sessions: listed } = await sessions.list({});
			expect(listed).toMatchObject([{ id: session.id, title: "A title" }]);
			client.attachment.close();
			handle.release();
		});

		it("go on with another model that is chosen for them, also after an eviction and in a later process", async () => {
			const store = createMemoryStore();
			const models = {
				m: { provider: "p", model: "echo", max_context_size: 1000 },
				other: { provider: "p", model: "other-echo", max_context_size: 1000, capabilities: ["thinking"] },
				always: { provider: "p", model: "reasoner", max_context_size: 1000 },
			};
			const settings = { store, models };
			const { sessions, kernel } = await createSubject({ loaded_sessions: 1 }, settings);
			const handle = await sessions.create(plainRequest);
			const { session } = handle;
			const client = await attachReader(session);
			const choose = (model: string | null, thinking: boolean | null = null) =>
				session.send({ type: "model.set", model, thinking });
			const choice = { alias: "other", name: "other-echo", provider: "p", thinking: true };
			expect(await choose("other")).toEqual({ ...choice, thinking: false });
			expect(await choose(null, true)).toEqual(choice);
			expect((await client.event("model.changed", 2)).body).toEqual({ type: "model.changed", model: choice });
			await expect(choose("none")).rejects.toMatchObject({
				code: "model-not-set",
				message: 'There is no model "none" in the settings. Their models: m, other, always.',
			});
			await expect(choose("constructor")).rejects.toMatchObject({ code: "model-not-set" });
			await expect(choose("m", true)).rejects.toMatchObject({ code: "invalid-input" });
			await expect(choose("always", false)).rejects.toMatchObject({ code: "invalid-input" });
			expect((await session.snapshot()).model).toEqual(choice);
			await runTurn(handle);
			client.attachment.close();
			handle.release();
			const evicting = await sessions.create(plainRequest);
			const info = {
				id: session.id,
				workDir: "/work",
				model: "other-echo",
				provider: "p",
				isRunning: false,
				isWaiting: false,
				labels: {},
			};
			expect((await sessions.loaded())[0]).toEqual(info);
			evicting.release();
			const again = await sessions.acquire(session.id);
			expect([(await again.session.snapshot()).model, again.info]).toEqual([choice, info]);
			again.release();
			await sessions.stop();
			await kernel.close();
			const { sessions: later } = await createSubject({}, settings);
			const opened = await later.acquire(session.id);
			expect([(await opened.session.snapshot()).model, opened.info]).toEqual([choice, info]);
		});

		unless("client-tools")("say which tools of a client they take, and which not and why", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			const declare = (tool: string) => ({ name: tool, description: "", parameters: { type: "object" } });
			const { tools } = await session.attach({ ...plainAttachment, tools: [declare("mine"), declare("ReadFile")] });
			expect(tools).toEqual({
				accepted: ["mine"],
				rejected: [{ name: "ReadFile", reason: "conflicts with builtin tool" }],
			});
		});

		it("refuse commands with the kernel's errors", async () => {
			const { sessions, attachHolding } = await createSubject({ running_turns: 1 });
			const one = await sessions.create(plainRequest);
			const two = await sessions.create(plainRequest);
			await expect(one.session.send({ type: "turn.cancel" })).rejects.toMatchObject({ code: "no-turn" });
			await attachHolding(one.session);
			await one.startTurn("text: hello");
			await expect(two.startTurn("x")).rejects.toMatchObject({ code: "overloaded", data: { limit: 1 } });
			await expect(one.startTurn("x")).rejects.toMatchObject({ code: "busy" });
		});

		it("are interrupted and archived", async () => {
			const { sessions, attachHolding } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { id } = handle.session;
			expect(await sessions.interrupt(id)).toBe(false);
			await attachHolding(handle.session);
			await handle.startTurn("text: hello");
			expect(await sessions.interrupt(id)).toBe(true);
			await sessions.archive(id);
			await expect(sessions.acquire(id)).rejects.toMatchObject({ code: "session-not-found" });
			expect(await sessions.loaded()).toEqual([]);
		});

		it("come back from the archive, and nothing happens to those that are not in it", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { id } = handle.session;
			await runTurn(handle);
			handle.release();
			await sessions.archive(id);
			await sessions.unarchive(id);
			await sessions.unarchive(id);
			const again = await sessions.acquire(id);
			await runTurn(again);
			await expect(sessions.unarchive("no-such-session")).rejects.toMatchObject({ code: "session-not-found" });
		});

		unless("unloading")("are discarded", async () => {
			const { sessions } = await createSubject();
			const other = await sessions.create(plainRequest);
			await other.discard();
			expect(await sessions.loaded()).toEqual([]);
		});

		it("are read after they were archived by whoever asks for that, and take no turn", async () => {
			const { sessions } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { id } = handle.session;
			await runTurn(handle);
			const before = [await readJournal(handle.session), await messagesOf(handle.session)];
			handle.release();
			await sessions.archive(id);
			const reader = await sessions.acquire(id, { archived: true });
			expect([await readJournal(reader.session), await messagesOf(reader.session)]).toEqual(before);
			await expect(reader.startTurn("x")).rejects.toMatchObject({ code: "session-not-found" });
			reader.release();
			await expect(sessions.acquire(id)).rejects.toMatchObject({ code: "session-not-found" });
			expect(await sessions.loaded()).toEqual([]);
		});

		it("are found by the labels that they were created with", async () => {
			const { sessions } = await createSubject();
			const labels = { team: "a", "": "odd", key: "é" };
			const { info } = await sessions.create({ ...plainRequest, labels });
			expect(info.labels).toEqual(labels);
			expect((await sessions.loaded()).map((each) => each.labels)).toEqual([labels]);
		});

		unless("unloading")("are unloaded on request while nobody uses them", async () => {
			const { sessions, kernel } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const { id } = handle.session;
			await runTurn(handle);
			await sessions.unload(id);
			expect((await sessions.loaded()).map((each) => each.id)).toEqual([id]);
			handle.release();
			await sessions.unload(id);
			expect(await sessions.loaded()).toEqual([]);
			const again = await sessions.acquire(id, { environment: { LATER: "yes" } });
			expect((await again.session.snapshot()).hasHistory).toBe(true);
			await sessions.unload(unknownId);
			again.release();
			await kernel.close();
		});

		unless("opening")("are acquired with the tools, directories and servers that the opening names", async () => {
			const store = createMemoryStore();
			const stored = await store.openOrCreate("/work", unknownId);
			await stored.commit({ state: { customTitle: "Begun" }, context: { kind: "append", rows: [begun] } });
			await stored.close();
			const { sessions } = await createSubject({}, { store });
			const filter = { names: null, hidden: [], includeTags: null, excludeTags: [] };
			const program = { command: "serve", arguments: [], environment: {}, workDir: null };
			const { session } = await sessions.acquire(unknownId, {
				defaultTools: "all",
				additionalDirs: ["/more"],
				addedMcpServers: [{ kind: "local", name: "own", callTimeout: null, filter, ...program }],
			});
			const declared = { name: "Shell", description: "", parameters: { type: "object" } };
			const { tools } = await session.attach({ ...plainAttachment, tools: [declared] });
			expect(tools.rejected).toEqual([{ name: "Shell", reason: "conflicts with builtin tool" }]);
		});

		unless("context")(
			"are told what is added to their context and what happened elsewhere, once under a name, and it lasts",
			async () => {
				const store = createMemoryStore();
				const { sessions, attachHolding } = await createSubject({}, { store });
				const handle = await sessions.create({ ...plainRequest, systemPrompt: "Be brief." });
				const { session } = handle;
				const addContext = (text: string, name: string | null) => session.send({ type: "context.add", text, name });
				const notify = (id: string, body: string, key: string | null) =>
					session.send({ type: "notification.add", id, kind: "build.done", input: body, key });
				expect(await addContext("It rains.", "n")).toEqual({ added: true });
				expect(await addContext("It rains.", "n")).toEqual({ added: false });
				await expect(addContext("other", "n")).rejects.toMatchObject({ code: "invalid-input" });
				expect(await notify("e1", "all is well", "k")).toEqual({ added: true, id: "e1" });
				expect(await notify("e2", "all is well", "k")).toEqual({ added: false, id: "e1" });
				await expect(notify("e3", "nothing is", "k")).rejects.toMatchObject({
					code: "invalid-input",
					data: { existing_id: "e1" },
				});
				for (let n = 0; n < 63; n += 1) await notify(`more-${n}`, "x", null);
				await expect(notify("over", "x", null)).rejects.toMatchObject({ code: "overloaded", data: { limit: 64 } });
				const rain = { role: "system", content: [{ type: "text", text: "It rains." }], name: "n" };
				expect((await session.conversation()).messages).toEqual([rain]);
				await attachHolding(session, "UserPromptSubmit");
				const started = handle.startTurn("text: hello").catch(() => undefined);
				await expect(addContext("It snows.", null)).rejects.toMatchObject({ code: "busy" });
				await sessions.stop();
				await started;
				const { sessions: later } = await createSubject({}, { store });
				const again = await later.acquire(session.id);
				expect((await again.session.conversation()).messages[0]).toEqual(rain);
				expect(await again.session.send({ type: "tasks.list" })).toEqual({ tasks: [], hasNews: true });
				expect(await again.session.send({ type: "context.add", text: "It rains.", name: "n" })).toEqual({
					added: false,
				});
				const waiting = await again.session.send({ type: "notification.list" });
				expect(waiting).toHaveLength(64);
				expect(waiting[0]).toEqual({ id: "e1", kind: "build.done", input: "all is well" });
				await attachReader(again.session);
				await again.startTurn("text: hello", { events: { taken: waiting.map(({ id }) => id) } });
				await vi.waitFor(
					async () => expect(await again.session.send({ type: "notification.list" })).toEqual([]),
					10_000,
				);
			},
		);

		unless("context")("add what comes several times at once under one name, or one key, once", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(plainRequest);
			const addContext = () => session.send({ type: "context.add", text: "It rains.", name: "n" });
			const notify = (id: string) =>
				session.send({ type: "notification.add", id, kind: "build.done", input: "all is well", key: "k" });
			expect(await Promise.all([addContext(), addContext()])).toEqual([{ added: true }, { added: false }]);
			expect((await session.conversation()).messages).toHaveLength(1);
			expect(await Promise.all([notify("e1"), notify("e2")])).toEqual([
				{ added: true, id: "e1" },
				{ added: false, id: "e1" },
			]);
			expect(await session.send({ type: "notification.list" })).toHaveLength(1);
		});

		it("are forked, whole or cut, loaded or not, and not while they work", async () => {
			const store = createMemoryStore();
			const models = { m: { provider: "p", model: "echo", max_context_size: 1_000_000 } };
			const { sessions: earlier } = await createSubject({}, { store, models });
			const brief = { ...plainRequest, systemPrompt: "Be brief." };
			const stored = await earlier.create(brief);
			await runTurn(stored);
			const storedMessages = await messagesOf(stored.session);
			await earlier.stop();
			await stored.discard();
			const { sessions, kernel, attachHolding } = await createSubject({}, { store, models });
			const handle = await sessions.create({ ...brief, labels: { a: "b" } });
			await runTurn(handle);
			await runTurn(handle);
			const messages = await messagesOf(handle.session);
			for (const [id, cut, expected] of [
				[stored.session.id, undefined, storedMessages],
				[handle.session.id, undefined, messages],
				[handle.session.id, { messages: 2 }, messages.slice(0, 2)],
			] as const) {
				const { id: forkId } = await sessions.fork(id, cut === undefined ? {} : { cut });
				expect(forkId).not.toBe(id);
				const fork = await sessions.acquire(forkId);
				const copied = await readJournal(fork.session);
				expect(await messagesOf(fork.session)).toEqual(expected);
				if (has("conversation")) expect((await fork.session.conversation()).systemPrompt).toBe("Be brief.");
				await runTurn(fork);
				const whole = await readJournal(fork.session);
				expect(whole.slice(0, copied.length)).toEqual(copied);
				expect(whole.at(-1)?.body).toMatchObject({ type: "turn.ended", outcome: { status: "finished" } });
				if (has("conversation")) expect(await messagesOf(fork.session)).toHaveLength(expected.length + 2);
				fork.release();
			}
			expect(await messagesOf(handle.session)).toEqual(messages);
			await expect(sessions.fork(unknownId)).rejects.toMatchObject({ code: "session-not-found" });
			if (has("replacement")) {
				const replacement = { role: "user", content: [{ type: "text", text: "instead" }] } as const;
				const { id: replaced } = await sessions.fork(handle.session.id, { cut: { messages: 2, replacement } });
				expect((await (await sessions.acquire(replaced)).session.conversation()).messages).toEqual([
					...messages.slice(0, 2),
					replacement,
				]);
			}
			await attachHolding(handle.session);
			await handle.startTurn("text: hello");
			await expect(sessions.fork(handle.session.id)).rejects.toMatchObject({ code: "busy" });
			await sessions.stop();
			await kernel.close();
		});

		it("are deleted for good, whatever they do and whether they are archived, loaded or neither", async () => {
			const store = createMemoryStore();
			const { sessions: earlier } = await createSubject({}, { store });
			const unloaded = await earlier.create(plainRequest);
			await runTurn(unloaded);
			await earlier.stop();
			await unloaded.discard();
			const { sessions, kernel, attachHolding } = await createSubject({}, { store });
			const running = await sessions.create(plainRequest);
			await attachHolding(running.session);
			const client = await attachReader(running.session);
			await running.startTurn("text: hello");
			const archived = await sessions.create({ ...plainRequest, workDir: "/other" });
			await runTurn(archived);
			await sessions.archive(archived.session.id);
			await sessions.delete(running.session.id);
			expect((await client.event("turn.ended")).body).toMatchObject({ outcome: { status: "cancelled" } });
			for (const { session } of [archived, running]) {
				await sessions.delete(session.id);
				await expect(sessions.acquire(session.id)).rejects.toMatchObject({ code: "session-not-found" });
			}
			const code = has("holding") ? "closed" : "session-not-found";
			await expect(running.startTurn("text: hello")).rejects.toMatchObject({ code });
			await sessions.delete(unknownId);
			await expect(sessions.delete("../x")).rejects.toMatchObject({ code: "invalid-input" });
			expect(await sessions.loaded()).toEqual([]);
			await kernel.close();
		});

		it("are listed in pages, those of earlier processes too", async () => {
			const store = createMemoryStore();
			const { sessions: earlier } = await createSubject({}, { store });
			const ids: string[] = [];
			for (const workDir of ["/work", "/other", "/work"]) {
				const handle = await earlier.create({ ...plainRequest, workDir });
				await runTurn(handle);
				ids.push(handle.session.id);
			}
			await earlier.stop();
			const { sessions } = await createSubject({}, { store });
			const { sessions: all, next } = await sessions.list({});
			expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
			expect(next).toBeNull();
			expect((await sessions.list({ workDir: "/other" })).sessions).toMatchObject([{ id: ids[1], workDir: "/other" }]);
			const first = await sessions.list({ limit: 2 });
			const second = await sessions.list({ limit: 2, ...(first.next === null ? {} : { after: first.next }) });
			expect([...first.sessions, ...second.sessions]).toEqual(all);
			await expect(sessions.list({ after: "nonsense" })).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("are found later when they were established, although nothing has happened", async () => {
			const store = createMemoryStore();
			const { sessions: earlier } = await createSubject({}, { store });
			const { session } = await earlier.create(plainRequest);
			await session.send({ type: "session.establish" });
			await earlier.stop();
			const { sessions } = await createSubject({}, { store });
			expect((await sessions.acquire(session.id)).session.id).toBe(session.id);
		});

		it("have background tasks", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			expect((await session.send({ type: "tasks.list" })).tasks).toEqual([]);
		});

		unless("background")("have background tasks, for whose end nobody has to wait", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			expect(await session.send({ type: "tasks.list" })).toEqual({ tasks: [], hasNews: false });
			await session.send({ type: "tasks.end" });
			expect(await session.send({ type: "tasks.wait", ids: ["bash-none"], seconds: 60 })).toEqual({ ended: true });
		});

		it("stop no task that there is not, and find files of the work directory", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(withTools);
			await expect(session.send({ type: "task.stop", id: "bash-none" })).rejects.toMatchObject({
				code: "invalid-input",
				message: 'There is no background task "bash-none".',
			});
			expect(await session.send({ type: "files.find", query: "no such file" })).toEqual({
				paths: [],
				isPartial: false,
			});
		});

		it("end a turn after an uncaught exception, and go on", async () => {
			const { sessions, inKernel, attachHolding } = await createSubject();
			const handle = await sessions.create(plainRequest);
			const client = await attachReader(handle.session);
			const holding = await attachHolding(handle.session, "UserPromptSubmit");
			const started = handle.startTurn("text: hello");
			await client.event("interaction.requested");
			const failing = has("ending") ? handle.session : await inKernel(handle.session);
			failing.fail(new Error("a bug"));
			const { outcome } = (await client.event("turn.ended")).body;
			expect(outcome).toMatchObject({ status: "failed", error: { code: "internal" } });
			await started;
			holding.attachment.close();
			await handle.startTurn("text: hello");
			expect((await client.event("turn.ended", 2)).body.outcome).toMatchObject({ status: "finished" });
		});

		it("end the events of their clients when they stop", async () => {
			const { sessions } = await createSubject();
			const { session } = await sessions.create(plainRequest);
			const readToEnd = async ({ events }: Attachment) => {
				for await (const _ of events);
				return true;
			};
			const waiting = readToEnd(await session.attach(plainAttachment));
			if (has("ending")) {
				await session.stop();
				expect(await waiting).toBe(true);
				expect(await readToEnd(await session.attach(plainAttachment))).toBe(true);
			}
			await sessions.stop();
			expect(await waiting).toBe(true);
			await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "closed" });
		});
	});
}
