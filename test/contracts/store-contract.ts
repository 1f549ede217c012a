// What every session store does, whatever it keeps sessions in.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ContextRow } from "../../src/api/values/conversation.ts";
import {
	type AgentEvent,
	type AgentPathEntry,
	type EventBody,
	eventDeclarations,
	statusChanged,
} from "../../src/api/values/event.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import { emptySummary } from "../../src/ports/store/journal-summary.ts";
import type { AgentDescription, SessionStore, StoredSession } from "../../src/ports/store/session-store.ts";
import {
	type Notification,
	newRuntime,
	noControl,
	pendingDelivery,
	type TaskRuntime,
	type TaskSpec,
} from "../../src/ports/store/stored-tasks.ts";
import { sampleEvents } from "../support/protocol/sample-events.ts";

export interface StoreSubject {
	/** A store over the same sessions each time, as another run of the program has it. */
	openStore(): SessionStore;
	/** A store that knows only what was written, where `openStore` returns the same one each time. */
	readAgain?(): SessionStore;
	/** Lets the stores look whether others have taken their sessions over; absent where nobody else can open them. */
	passTime?(): void;
	/** Resolves once the time distinguishes a later write from an earlier one. */
	tick(): Promise<void>;
	/** An absolute work directory: the store separates the sessions that it has by these. */
	readonly workDir: string;
	cleanUp(): Promise<void>;
}

const id = "11111111-2222-4333-8444-555555555555";
const otherId = "99999999-2222-4333-8444-555555555555";

export function eventAt(
	body: EventBody,
	at = 1_700_000_000_123,
	agentPath: readonly AgentPathEntry[] = [],
): AgentEvent {
	return { sessionId: id, turnId: "turn-1", agentPath, at, body };
}

export const promptRow: ContextRow = {
	type: "message",
	message: { role: "user", content: [{ type: "text", text: "Say hello" }] },
};

export async function readAll(session: StoredSession, after?: number): Promise<AgentEvent[]> {
	const events: AgentEvent[] = [];
	for await (const batch of session.events(after)) events.push(...batch);
	return events;
}

const subagent: AgentPathEntry = { parentToolCallId: "call-1", agentId: "a0d984db6", subagentType: "coder" };

const everyRow: readonly ContextRow[] = [
	{ type: "system-prompt", content: "You code. Ünïcode \u2028 too." },
	{ type: "checkpoint", id: 0 },
	promptRow,
	{
		type: "message",
		message: {
			role: "user",
			name: "ada",
			content: [
				{ type: "text", text: "one" },
				{ type: "image_url", image_url: { url: "data:image/png;base64,AA==", id: null } },
				{ type: "audio_url", audio_url: { url: "https://example.org/a.mp3", id: "a1" } },
				{ type: "video_url", video_url: { url: "https://example.org/v.mp4", id: null } },
			],
		},
	},
	{ type: "usage", tokenCount: 120 },
	{
		type: "message",
		message: {
			role: "assistant",
			content: [{ type: "think", think: "hm", encrypted: null }],
			toolCalls: [
				{ type: "function", id: "call-1", function: { name: "Shell", arguments: '{"command":"ls"}' }, extras: null },
				{ type: "function", id: "call-2", function: { name: "Todo", arguments: null }, extras: { k: [1] } },
			],
		},
	},
	{ type: "message", message: { role: "tool", content: [{ type: "text", text: "" }], toolCallId: "call-1" } },
	{ type: "message", message: { role: "tool", content: [], toolCallId: "call-2" } },
	{ type: "message", message: { role: "system", content: [{ type: "text", text: "note" }] } },
];

/** Declares the tests of the contract for one kind of store. */
export function describeStoreContract(name: string, createSubject: () => Promise<StoreSubject>): void {
	describe(`${name}: the store contract`, () => {
		let subject: StoreSubject;
		let store: SessionStore;
		let workDir: string;

		beforeEach(async () => {
			subject = await createSubject();
			store = subject.openStore();
			workDir = subject.workDir;
		});
		afterEach(() => subject.cleanUp());

		const reopen = async (): Promise<StoredSession> =>
			(subject.readAgain?.() ?? subject.openStore()).openOrCreate(workDir, id);

		it("makes a new session with nothing in it", async () => {
			const session = await store.openOrCreate(workDir, id);
			expect({ ...session }).toMatchObject({ id, workDir, existed: false, contextRows: [], summary: emptySummary });
			expect(session.cursor()).toEqual({ epoch: expect.stringMatching(/^.+$/), seq: 0 });
			expect(session.state()).toEqual({
				approval: { yolo: false, afk: false, autoApproveActions: [] },
				additionalDirs: [],
				customTitle: null,
				planMode: false,
				planSessionId: null,
				planSlug: null,
				todos: [],
				archivedAt: null,
				creationOptions: null,
				forkedFrom: null,
			});
			expect(await readAll(session)).toEqual([]);
		});

		it("returns every kind of context row unchanged", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: everyRow.slice(0, 4) } });
			await session.commit({ context: { kind: "append", rows: everyRow.slice(4) } });
			const again = await reopen();
			expect(again.existed).toBe(true);
			expect(again.contextRows).toEqual(everyRow);
		});

		it("prepends a system prompt to a context without one", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 0 }, promptRow] } });
			const second = await reopen();
			const prompt: ContextRow = { type: "system-prompt", content: "You code." };
			await second.commit({ context: { kind: "append", rows: [prompt, { type: "checkpoint", id: 1 }] } });
			await second.commit({ context: { kind: "append", rows: [promptRow] } });
			expect((await reopen()).contextRows).toEqual([
				prompt,
				{ type: "checkpoint", id: 0 },
				promptRow,
				{ type: "checkpoint", id: 1 },
				promptRow,
			]);
		});

		it("replaces the whole context, and appends to the new one", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: everyRow } });
			const replacing: ContextRow[] = [{ type: "system-prompt", content: "You code." }, promptRow];
			await session.commit({ context: { kind: "replace", rows: replacing } });
			await session.commit({ context: { kind: "append", rows: [{ type: "usage", tokenCount: 7 }] } });
			expect((await reopen()).contextRows).toEqual([...replacing, { type: "usage", tokenCount: 7 }]);
		});

		it("replaces the context of a session that had none", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "replace", rows: [promptRow] } });
			expect((await reopen()).contextRows).toEqual([promptRow]);
		});

		it("gives the durable events back whole, with dense numbers and the epoch", async () => {
			const session = await store.openOrCreate(workDir, id);
			const durable = [
				eventAt({ type: "turn.started", input: [{ type: "text", text: "héllo" }] }, 1_700_000_000_001),
				eventAt({ type: "step.started", n: 1 }, 1_700_000_000_002.5, [subagent, { ...subagent, agentId: null }]),
				{ ...eventAt(statusChanged({ context_tokens: 3 }), 1_700_000_000_003), turnId: null },
				eventAt({
					type: "interaction.resolved",
					interactionId: "ask-1",
					answer: { kind: "approval", decision: "approve", feedback: "" },
					by: { kind: "client", clientId: "c1", name: null },
				}),
				eventAt({ type: "turn.ended", outcome: { status: "finished" } }, 1_700_000_000_999),
			];
			const [first, ...others] = durable;
			if (first === undefined) throw new Error("no event");
			const volatile = eventAt({ type: "content.delta", part: { type: "text", text: "x" } });
			const { epoch } = session.cursor();
			const expected = durable.map((event, index) => ({ ...event, seq: index + 1, epoch }));
			expect(await session.commit({ events: [volatile, first, volatile] })).toEqual([volatile, expected[0], volatile]);
			expect(await session.commit({ events: others })).toEqual(expected.slice(1));
			expect(await readAll(session)).toEqual(expected);
			expect(session.cursor()).toEqual({ epoch, seq: 5 });
			const again = await reopen();
			expect(await readAll(again)).toEqual(expected);
			expect(again.cursor()).toEqual({ epoch, seq: 5 });
		});

		it("gives back the events of every type", async () => {
			const session = await store.openOrCreate(workDir, id);
			const samples = Object.values(sampleEvents)
				.flat()
				.filter(({ type }) => eventDeclarations[type].class === "durable");
			await session.commit({ events: samples.map((body) => eventAt(body)) });
			expect((await readAll(await reopen())).map(({ body }) => body)).toMatchObject(samples);
		});

		it("gives the events behind a number", async () => {
			const session = await store.openOrCreate(workDir, id);
			const steps = (...numbers: readonly number[]) => numbers.map((n) => eventAt({ type: "step.started", n }));
			await session.commit({ events: steps(1, 2, 3) });
			await session.close();
			const again = await reopen();
			await again.commit({ events: steps(4, 5) });
			for (const after of [0, 1, 3, 4, 5, 9]) {
				expect((await readAll(again, after)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5].filter((n) => n > after));
			}
		});

		it("goes on with the numbers and the epoch after each reopening", async () => {
			const epochs = new Set<string>();
			for (let count = 0; count < 4; count += 1) {
				const session = await reopen();
				epochs.add(session.cursor().epoch);
				const [event] = await session.commit({ events: [eventAt({ type: "step.started", n: count })] });
				expect(event?.seq).toBe(count + 1);
				if (count % 2 === 0) await session.close();
			}
			expect(epochs.size).toBe(1);
			expect((await readAll(await reopen())).map(({ seq, body }) => [seq, body])).toEqual(
				[0, 1, 2, 3].map((n) => [n + 1, { type: "step.started", n }]),
			);
		});

		it("has another epoch for another session", async () => {
			const one = await store.openOrCreate(workDir, id);
			const other = await store.openOrCreate(workDir, otherId);
			expect(one.cursor().epoch).not.toBe(other.cursor().epoch);
		});

		it("does not give events back that were committed after the call", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({
				events: [eventAt({ type: "step.started", n: 1 }), eventAt({ type: "step.started", n: 2 })],
			});
			const events = session.events();
			const seen: unknown[] = [];
			await session.commit({ events: [eventAt({ type: "step.started", n: 9 })] });
			for await (const batch of events) {
				seen.push(...batch.map(({ body }) => body));
				await session.commit({ events: [eventAt({ type: "step.started", n: 9 })] });
			}
			expect(seen).toEqual([
				{ type: "step.started", n: 1 },
				{ type: "step.started", n: 2 },
			]);
		});

		it("stores events, context and state together", async () => {
			const session = await store.openOrCreate(workDir, id);
			const events = [eventAt({ type: "turn.started", input: "hi" })];
			await session.commit({
				events,
				context: { kind: "append", rows: [promptRow] },
				state: { planMode: true },
			});
			const again = await reopen();
			expect((await readAll(again)).map(({ body }) => body)).toEqual(events.map(({ body }) => body));
			expect([again.contextRows, again.state().planMode]).toEqual([[promptRow], true]);
		});

		it("carries out concurrent commits in the order of the calls, each as a whole", async () => {
			const session = await store.openOrCreate(workDir, id);
			const numbers = Array.from({ length: 30 }, (_, n) => n);
			const results = await Promise.all(
				numbers.map((n) =>
					session.commit(
						{
							events: [eventAt({ type: "step.started", n }), eventAt({ type: "compaction.started" })],
							context: { kind: "append", rows: [{ type: "checkpoint", id: n }] },
						},
						{ sync: n % 7 === 0 },
					),
				),
			);
			expect(results.map((events) => events.map(({ seq }) => seq))).toEqual(numbers.map((n) => [2 * n + 1, 2 * n + 2]));
			const again = await reopen();
			expect(again.contextRows).toEqual(numbers.map((n) => ({ type: "checkpoint", id: n })));
			expect((await readAll(again)).map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
		});

		it("carries out appends in the order of the calls", async () => {
			const session = await store.openOrCreate(workDir, id);
			const rows = Array.from({ length: 30 }, (_, n): ContextRow => ({ type: "checkpoint", id: n }));
			await Promise.all(rows.map((row) => session.commit({ context: { kind: "append", rows: [row] } })));
			await session.commit({}, { sync: true });
			expect((await reopen()).contextRows).toEqual(rows);
		});

		it("finds the calls that were started and are not over", async () => {
			const session = await store.openOrCreate(workDir, id);
			const commit = (to: StoredSession, ...bodies: readonly EventBody[]) =>
				to.commit({ events: bodies.map((body) => eventAt(body)) });
			const started = (toolCallId: string) =>
				({
					type: "tool.started",
					toolCallId,
					name: "Shell",
					arguments: `{"of":"${toolCallId}"}`,
					has_effect: true,
				}) as const;
			const ended = (toolCallId: string) => ({ type: "tool.ended", toolCallId }) as const;
			const unfinished = (toolCallId: string, isRecovered = false) => ({
				toolCallId,
				name: "Shell",
				arguments: `{"of":"${toolCallId}"}`,
				isRecovered,
			});
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await commit(session, started("a"));
			await commit(session, started("b"), ended("a"));
			// Ids come again in later steps.
			await commit(session, started("a"), started("c"), ended("c"));
			const again = await reopen();
			expect(again.summary.unfinishedCalls).toEqual([unfinished("b"), unfinished("a")]);
			await commit(again, { type: "tool.outcome-unknown", toolCallId: "a" }, started("a"));
			const third = await reopen();
			expect(third.summary.unfinishedCalls).toEqual([unfinished("b"), unfinished("a", true), unfinished("a")]);
			await commit(third, ended("a"));
			expect((await reopen()).summary.unfinishedCalls).toEqual([unfinished("b"), unfinished("a")]);
			const fourth = await reopen();
			await commit(fourth, { type: "tool.outcome-unknown", toolCallId: "a" });
			await commit(fourth, { type: "recovery.reported" }, ended("b"), ended("a"), {
				type: "turn.ended",
				outcome: null,
			});
			await fourth.close();
			expect((await reopen()).summary.unfinishedCalls).toEqual([]);
		});

		it("finds what was used, as it was last stored, also behind a closed run", async () => {
			const session = await store.openOrCreate(workDir, id);
			const used = (tokens: number, milliseconds: number, toolCalls: number) =>
				eventAt({ type: "usage.counted", tokens, milliseconds, tool_calls: toolCalls });
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await session.commit({ events: [used(10, 1.5, 0)] });
			await session.commit({ events: [eventAt({ type: "turn.ended", outcome: null }), used(25, 2000, 3)] });
			expect((await reopen()).summary.used).toEqual({ tokens: 25, milliseconds: 2000, toolCalls: 3 });
			const again = await reopen();
			await again.commit({ events: [used(30, 2001, 4)] });
			await again.close();
			expect((await reopen()).summary.used).toEqual({ tokens: 30, milliseconds: 2001, toolCalls: 4 });
		});

		it("finds what an interrupted step had produced and its context does not have", async () => {
			const session = await store.openOrCreate(workDir, id);
			const said = eventAt({ type: "content.completed", part: { type: "text", text: "I will look." } });
			const [, , stored] = await session.commit({
				events: [
					eventAt({ type: "turn.started", input: "look" }),
					eventAt({ type: "step.started", n: 1 }),
					said,
					eventAt({ type: "content.completed", part: { type: "text", text: "of a subagent" } }, 1, [subagent]),
				],
				context: { kind: "append", rows: [promptRow] },
			});
			const again = await reopen();
			expect(again.summary.unretained).toEqual([stored]);
			const answer: ContextRow = { type: "message", message: { role: "assistant", content: [] } };
			await again.commit({ context: { kind: "append", rows: [answer] } });
			expect((await reopen()).summary.unretained).toEqual([]);
		});

		it("finds the input of a turn that was not brought to its first step", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			const input = [{ type: "text" as const, text: "look" }];
			const begun = eventAt({ type: "turn.started", input, enters_context: true });
			await session.commit({ events: [begun] });
			// Also after a run that did nothing but open and close it.
			await (await reopen()).close();
			const again = await reopen();
			expect(again.summary.startedInputs).toEqual([{ turnId: begun.turnId, input }]);
			await again.commit({ events: [eventAt({ type: "step.started", n: 1 })] });
			expect((await reopen()).summary.startedInputs).toEqual([]);
		});

		it("updates the state field by field", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await session.commit({
				state: {
					planMode: true,
					planSlug: "blue-moon",
					todos: [{ title: "read", status: "done" }],
					archivedAt: 1_700_000_000.5,
					creationOptions: { tools: "all", budgets: {} },
				},
			});
			await Promise.all([
				session.commit({ state: { approval: { yolo: true, afk: false, autoApproveActions: ["edit file"] } } }),
				session.commit({ state: { additionalDirs: ["/srv"], customTitle: "A title" } }),
			]);
			const expected = {
				approval: { yolo: true, afk: false, autoApproveActions: ["edit file"] },
				additionalDirs: ["/srv"],
				customTitle: "A title",
				planMode: true,
				planSessionId: null,
				planSlug: "blue-moon",
				todos: [{ title: "read", status: "done" }],
				archivedAt: 1_700_000_000.5,
				creationOptions: { tools: "all", budgets: {} },
				forkedFrom: null,
			};
			expect(session.state()).toEqual(expected);
			expect((await reopen()).state()).toEqual(expected);
		});

		it("remains archived although it was interrupted before it had a context", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ events: [eventAt({ type: "step.started", n: 1 })] });
			await session.commit({ state: { archivedAt: 1_700_000_000.5 } });
			const again = await reopen();
			expect(again.state().archivedAt).toBe(1_700_000_000.5);
			await again.commit({ events: [eventAt({ type: "step.started", n: 2 })] }, { sync: true });
			expect((await reopen()).state().archivedAt).toBe(1_700_000_000.5);
		});

		it("starts with an empty context where its file is gone, and with the events and the title that remain", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ events: [eventAt({ type: "step.started", n: 1 })] });
			await session.commit({ state: { planMode: true, customTitle: "Kept" } });
			const again = await reopen();
			expect(again.existed).toBe(false);
			expect(again.state()).toMatchObject({ planMode: false, customTitle: "Kept" });
			expect(await readAll(again)).toHaveLength(1);
		});

		it("opens only what exists", async () => {
			expect(await store.open(workDir, id)).toBeNull();
			const session = await store.openOrCreate(workDir, id);
			expect(await store.open(workDir, id)).toBeNull();
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			expect((await subject.openStore().open(workDir, id))?.contextRows).toEqual([promptRow]);
			expect(await store.open(workDir, otherId)).toBeNull();
			expect(await store.open(`${workDir}-other`, id)).toBeNull();
		});

		it("stores what may come with the next commit before that one, and at the latest when the session is closed", async () => {
			const row = (n: number): ContextRow => ({ type: "usage", tokenCount: n });
			const append = (n: number) => ({ context: { kind: "append", rows: [row(n)] } }) as const;
			const session = await store.openOrCreate(workDir, id);
			await session.commit(append(0));
			const committed = session.commit({ ...append(1), events: [eventAt({ type: "step.started", n: 1 })] });
			await session.commit(append(2), { withNext: true });
			await committed;
			await session.commit({ events: [eventAt({ type: "step.started", n: 2 })] });
			await session.commit(append(3), { withNext: true });
			const replaced = { kind: "replace", rows: [row(3), row(4)] } as const;
			await session.commit({ context: replaced });
			await session.commit(append(5), { withNext: true });
			await session.commit(append(6), { withNext: true });
			await session.close();
			const again = await reopen();
			expect(again.contextRows).toEqual([3, 4, 5, 6].map(row));
			await expect(session.commit(append(7), { withNext: true })).rejects.toMatchObject({ code: "closed" });
		});

		it("deletes an empty session when it is closed and forgets it as the last one", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({
				context: {
					kind: "append",
					rows: [
						{ type: "system-prompt", content: "You code." },
						{ type: "checkpoint", id: 0 },
					],
				},
			});
			await session.commit({ state: { planMode: true } });
			await session.markStarted();
			expect(await store.lastSessionId(workDir)).toBe(id);
			await session.close();
			const later = subject.openStore();
			expect(await later.open(workDir, id)).toBeNull();
			expect(await later.lastSessionId(workDir)).toBeNull();
		});

		it("keeps an empty session that was created on purpose, however often it is opened, without listing it", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.establish();
			await session.commit({ state: { planMode: true } });
			await session.close();
			for (let time = 0; time < 2; time += 1) {
				const later = subject.openStore();
				const again = await later.open(workDir, id);
				expect(again?.state().planMode).toBe(true);
				await again?.close();
				expect(await later.list({ workDir })).toEqual({ sessions: [], next: null });
				expect(await later.list({ workDir, withUnused: true })).toMatchObject({
					sessions: [{ id, workDir }],
					next: null,
				});
			}
		});

		it("finds a session of which only the beginning of the first turn was stored", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
			const again = await subject.openStore().open(workDir, id);
			expect(again?.contextRows).toEqual([]);
		});

		it("lets an empty session that was created on purpose be used like any other", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.establish();
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await session.close();
			expect((await subject.openStore().open(workDir, id))?.contextRows).toEqual([promptRow]);
		});

		it.each<readonly [string, (session: StoredSession) => Promise<unknown>]>([
			["a title", (session) => session.commit({ state: { customTitle: "Named" } })],
			["an event", (session) => session.commit({ events: [eventAt(statusChanged({ plan_mode: true }))] })],
			["a message", (session) => session.commit({ context: { kind: "append", rows: [promptRow] } })],
		])("does not delete a session that has %s", async (_, fill) => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 0 }] } });
			await fill(session);
			await session.close();
			expect(await subject.openStore().open(workDir, id)).not.toBeNull();
			expect(await subject.openStore().lastSessionId(workDir)).toBe(id);
		});

		it("knows the last session of a crashed run from its first turn on", async () => {
			const session = await store.openOrCreate(workDir, id);
			expect(await store.lastSessionId(workDir)).toBeNull();
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			expect(await store.lastSessionId(workDir)).toBeNull();
			await session.markStarted();
			expect(await subject.openStore().lastSessionId(workDir)).toBe(id);
			expect(await subject.openStore().lastSessionId(`${workDir}-other`)).toBeNull();
		});

		it("does not change the last session when another one ends unused", async () => {
			const first = await store.openOrCreate(workDir, id);
			await first.commit({ context: { kind: "append", rows: [promptRow] } });
			await first.close();
			const idle = await subject.openStore().openOrCreate(workDir, otherId);
			await idle.close();
			expect(await subject.openStore().lastSessionId(workDir)).toBe(id);
			expect((await subject.openStore().list({ workDir })).sessions).toHaveLength(1);
		});

		it("does not change the last session when one of many sessions is closed, and deletes that one if it is empty", async () => {
			const one = await store.openOrCreate(workDir, id);
			const two = await store.openOrCreate(workDir, otherId);
			for (const session of [one, two]) await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await two.markStarted();
			await two.close({ becomesLast: false });
			await one.close({ becomesLast: false });
			expect(await subject.openStore().lastSessionId(workDir)).toBe(otherId);
			const empty = await store.openOrCreate(workDir, "11111111-2222-4333-8444-555555555577");
			await empty.commit({ state: { planMode: true } });
			await empty.close({ becomesLast: false });
			expect((await subject.openStore().list({ workDir })).sessions).toHaveLength(2);
		});

		it("lists sessions that are not empty, newest first, titled by the first prompt of the session's own agent", async () => {
			const fill = async (name: string, events: readonly AgentEvent[], rows: readonly ContextRow[]) => {
				const session = await store.openOrCreate(workDir, name);
				await session.commit({ context: { kind: "append", rows } });
				await session.commit({ events });
				await subject.tick();
				return session;
			};
			const turn = (text: string, path: readonly AgentPathEntry[] = []) =>
				eventAt({ type: "turn.started", input: text }, 1_700_000_000_000, path);
			await fill("empty", [], [{ type: "checkpoint", id: 0 }]);
			await fill(
				"prompted",
				[turn("of the subagent", [subagent]), turn("  "), turn("  My\n prompt "), turn("2nd")],
				[],
			);
			const named = await fill("named", [turn("First prompt")], []);
			await named.commit({ state: { customTitle: "Its name", archivedAt: 1_700_000_000.5 } });
			await subject.tick();
			await fill("untitled", [], [promptRow]);
			const listed = (name: string, title: string, archivedAt: number | null = null) => ({
				id: name,
				workDir,
				title,
				updatedAt: expect.any(Number),
				archivedAt,
			});
			const expected = {
				sessions: [
					listed("untitled", "Untitled"),
					listed("named", "Its name", 1_700_000_000_500),
					listed("prompted", "My prompt"),
				],
				next: null,
			};
			expect(await subject.openStore().list({ workDir })).toEqual(expected);
			expect(await store.list({ workDir: `${workDir}/x/..//.` })).toEqual(expected);
			expect(await store.list({ workDir: `${workDir}-other` })).toEqual({ sessions: [], next: null });
		});

		it("lists the sessions of all work dirs in pages", async () => {
			for (const [index, place] of [workDir, `${workDir}-other`, workDir, `${workDir}-other`].entries()) {
				const session = await store.openOrCreate(place, `session-${index}`);
				await session.commit({ events: [eventAt({ type: "turn.started", input: `prompt ${index}` })] });
				await session.close();
				await subject.tick();
			}
			const all = await subject.openStore().list({});
			expect(all.sessions.map((one) => one.id)).toEqual(["session-3", "session-2", "session-1", "session-0"]);
			expect(all.sessions.map((one) => one.workDir)).toEqual([
				`${workDir}-other`,
				workDir,
				`${workDir}-other`,
				workDir,
			]);
			const seen: string[] = [];
			let after: string | null = null;
			do {
				const page = await store.list({ limit: 3, ...(after === null ? {} : { after }) });
				seen.push(...page.sessions.map((one) => one.id));
				after = page.next;
			} while (after !== null);
			expect(seen).toEqual(all.sessions.map((one) => one.id));
			expect((await store.list({ workDir, limit: 1 })).sessions.map((one) => one.id)).toEqual(["session-2"]);
			await expect(store.list({ after: "nonsense" })).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("refuses the writes of a session that another process has taken over, and says so at once", async () => {
			const stale = await store.openOrCreate(workDir, id);
			await stale.commit({ events: [eventAt({ type: "step.started", n: 1 })] });
			const { passTime } = subject;
			if (passTime === undefined) {
				expect(stale.lost).toBeInstanceOf(Promise);
				return;
			}
			const holder = await reopen();
			passTime();
			const reason = await stale.lost;
			expect(reason).toMatchObject({ code: "storage-failed" });
			const refusal = stale.commit({ events: [eventAt({ type: "step.started", n: 2 })] });
			await expect(refusal).rejects.toMatchObject({ code: "storage-failed", message: reason.message });
			await holder.commit({ events: [eventAt({ type: "step.started", n: 3 })] });
			await holder.close();
			// Also when the other one is gone: what it wrote is unknown here.
			await expect(stale.commit({ state: { planMode: true } })).rejects.toMatchObject({ code: "storage-failed" });
			await stale.close();
			const steps = (await readAll(await reopen())).map(({ seq, body }) => [seq, body]);
			expect(steps).toEqual([
				[1, { type: "step.started", n: 1 }],
				[2, { type: "step.started", n: 3 }],
			]);
		});

		it("treats spellings of one work dir as the same", async () => {
			const session = await store.openOrCreate(`${workDir}//x/../.`, id);
			expect(session.workDir).toBe(workDir);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			expect(await subject.openStore().open(`${workDir}/`, id)).not.toBeNull();
		});

		it.each(["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "x".repeat(300)])(
			"refuses the session id %j",
			async (bad) => {
				await expect(store.openOrCreate(workDir, bad)).rejects.toMatchObject({ code: "invalid-input" });
				await expect(store.open(workDir, bad)).rejects.toMatchObject({ code: "invalid-input" });
				await expect(store.readContext(workDir, bad)).rejects.toMatchObject({ code: "invalid-input" });
			},
		);

		describe("its subagents", () => {
			const known: AgentDescription = {
				id: "a0d984db6",
				type: "coder",
				description: "count lines",
				createdAt: 1_700_000_000_000,
				modelOverride: "fast",
				effectiveModel: "fast",
			};

			it("are found again with their metadata, in this session only", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				expect(await session.openAgent(known.id)).toBeNull();
				const agent = await session.createAgent(known);
				expect(agent.contextRows).toEqual([]);
				await agent.begin("Count the lines");
				await agent.changeContext({ kind: "append", rows: everyRow.slice(0, 4) });
				await agent.changeContext({ kind: "append", rows: everyRow.slice(4) });
				await agent.appendEvents([eventAt({ type: "step.started", n: 1 }, 1_700_000_000_000, [subagent])]);
				await agent.appendOutput("Three.");
				await agent.setStatus("idle");
				for (const holder of [session, await reopen()]) {
					const again = await holder.openAgent(known.id);
					expect(again?.description).toEqual(known);
					expect(again?.contextRows).toEqual(everyRow);
				}
				const other = await store.openOrCreate(workDir, otherId);
				expect(await other.openAgent(known.id)).toBeNull();
			});

			it("have contexts that can be replaced", async () => {
				const session = await store.openOrCreate(workDir, id);
				const agent = await session.createAgent(known);
				await agent.begin("Count the lines");
				await agent.changeContext({ kind: "append", rows: everyRow });
				await agent.changeContext({ kind: "replace", rows: [promptRow] });
				await agent.changeContext({ kind: "append", rows: [{ type: "checkpoint", id: 1 }] });
				await agent.setStatus("idle");
				const again = await (await reopen()).openAgent(known.id);
				expect(again?.contextRows).toEqual([promptRow, { type: "checkpoint", id: 1 }]);
			});

			it("write nothing to the session's own logs", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				const agent = await session.createAgent(known);
				await agent.begin("Count the lines");
				await agent.changeContext({ kind: "append", rows: everyRow });
				await agent.appendEvents([eventAt({ type: "step.started", n: 1 }, 1_700_000_000_000, [subagent])]);
				const again = await reopen();
				expect(again.contextRows).toEqual([promptRow]);
				expect(await readAll(again)).toEqual([]);
			});

			it.each(["", "..", "../a0d984db6", "a/b", "unheard-of"])("are not found under %j", async (name) => {
				const session = await store.openOrCreate(workDir, id);
				await (await session.createAgent(known)).begin("Count the lines");
				expect(await session.openAgent(name)).toBeNull();
			});

			it("refuse writes after the end of ownership", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				const agent = await session.createAgent(known);
				await session.close();
				const closed = { code: "closed" };
				await expect(agent.begin("Count the lines")).rejects.toMatchObject(closed);
				await expect(agent.setStatus("idle")).rejects.toMatchObject(closed);
				await expect(agent.changeContext({ kind: "append", rows: [promptRow] })).rejects.toMatchObject(closed);
				await expect(agent.appendEvents([])).rejects.toMatchObject(closed);
				await expect(agent.appendOutput("Three.")).rejects.toMatchObject(closed);
			});
		});

		describe("its background work", () => {
			const spec: TaskSpec = {
				id: "agent-0a1b2c3d",
				kind: "agent",
				sessionId: id,
				description: "a look around",
				toolCallId: "call-1",
				createdAt: 1_700_000_000_250,
				timeout: 900,
				command: null,
				agent: { agentId: "a0d984db6", subagentType: "explore", prompt: "Look", modelOverride: null },
			};
			const runtime: TaskRuntime = {
				...newRuntime,
				status: "failed",
				startedAt: 1_700_000_001_000,
				finishedAt: 1_700_000_002_500,
				exitCode: 2,
				timedOut: true,
				failureReason: "Too slow.",
			};
			const notification: Notification = {
				id: "n0a1b2c3d",
				category: "task",
				type: "task.failed",
				sourceKind: "background_task",
				sourceId: spec.id,
				title: "Failed: a look around",
				body: "It failed.",
				severity: "error",
				createdAt: 1_700_000_003_000,
				payload: { task_id: spec.id, exit_code: null, list: [1] },
				targets: ["llm", "wire"],
				dedupeKey: "a-key",
			};
			const delivery = { llm: pendingDelivery, wire: { status: "acked", claimedAt: null, ackedAt: 1000 } } as const;

			it("is none in a new session, nor in another one", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				const isNone = async ({ tasks, notifications }: StoredSession) => [
					await tasks.any(),
					await tasks.list(),
					await tasks.find(spec.id),
					await notifications.any(),
					await notifications.list(),
				];
				expect(await isNone(session)).toEqual([false, [], null, false, []]);
				await session.tasks.create(spec);
				await session.notifications.add({ notification, delivery });
				expect(await isNone(await store.openOrCreate(workDir, otherId))).toEqual([false, [], null, false, []]);
			});

			it("has the status and the output of a new task at first", async () => {
				const session = await store.openOrCreate(workDir, id);
				const task = await session.tasks.create(spec);
				expect(task.spec).toEqual(spec);
				expect([await task.runtime(), await task.control()]).toEqual([newRuntime, noControl]);
				expect(await task.outputTail(10)).toEqual({ bytes: Buffer.alloc(0), size: 0 });
			});

			it("is found again with all its data", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				const task = await session.tasks.create(spec);
				const control = { killRequestedAt: 1_700_000_002_000, killReason: "enough", force: true };
				await task.setRuntime(runtime);
				await task.setControl(control);
				await task.appendOutput("one\n");
				await task.appendOutput("two\n");
				await task.noteSeen(8);
				for (const holder of [session, await reopen()]) {
					expect(await holder.tasks.any()).toBe(true);
					const again = await holder.tasks.find(spec.id);
					expect(again?.spec).toEqual(spec);
					expect([await again?.runtime(), await again?.control()]).toEqual([runtime, control]);
					expect(await again?.outputTail(5)).toEqual({ bytes: Buffer.from("\ntwo\n"), size: 8 });
					expect((await holder.tasks.list()).map((each) => each.spec)).toEqual([spec]);
				}
			});

			it("lists tasks in the order in which they were made", async () => {
				const session = await store.openOrCreate(workDir, id);
				for (const [index, name] of ["agent-00000002", "agent-00000001", "agent-00000003"].entries()) {
					await session.tasks.create({ ...spec, id: name, createdAt: 1000 * (index + 1) });
				}
				const ids = (await session.tasks.list()).map((task) => task.spec.id);
				expect(ids).toEqual(["agent-00000002", "agent-00000001", "agent-00000003"]);
			});

			it("removes a task that never ran", async () => {
				const session = await store.openOrCreate(workDir, id);
				const task = await session.tasks.create(spec);
				await task.remove();
				expect([await session.tasks.find(spec.id), await session.tasks.list()]).toEqual([null, []]);
			});

			it.each(["", "..", "../x", "a/b", "A-B", "unheard-of"])("knows no task %j", async (name) => {
				const session = await store.openOrCreate(workDir, id);
				await session.tasks.create(spec);
				expect(await session.tasks.find(name)).toBeNull();
			});

			it("returns notifications with the state of their delivery", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				const later = { ...notification, id: "n00000001", createdAt: 1_700_000_004_000, dedupeKey: null };
				await session.notifications.add({ notification, delivery });
				await session.notifications.add({ notification: later, delivery });
				const arrived = { ...delivery, llm: { status: "acked", claimedAt: null, ackedAt: 5000 } } as const;
				await session.notifications.setDelivery(later.id, arrived);
				for (const holder of [session, await reopen()]) {
					expect(await holder.notifications.any()).toBe(true);
					expect(await holder.notifications.list()).toEqual([
						{ notification, delivery },
						{ notification: later, delivery: arrived },
					]);
				}
			});

			it("is gone when it is removed, as a task that did not start, and the session goes on", async () => {
				const session = await store.openOrCreate(workDir, id);
				const task = await session.tasks.create(spec);
				await task.remove();
				await session.commit({ context: { kind: "append", rows: [promptRow] } }, { sync: true });
				for (const holder of [session, await reopen()]) expect(await holder.tasks.list()).toEqual([]);
			});

			it("refuses writes after the end of ownership", async () => {
				const session = await store.openOrCreate(workDir, id);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				const task = await session.tasks.create(spec);
				await session.close();
				const closed = { code: "closed" };
				await expect(session.tasks.create(spec)).rejects.toMatchObject(closed);
				await expect(task.setRuntime(runtime)).rejects.toMatchObject(closed);
				await expect(task.setControl(noControl)).rejects.toMatchObject(closed);
				await expect(task.noteSeen(1)).rejects.toMatchObject(closed);
				await expect(task.appendOutput("x")).rejects.toMatchObject(closed);
				await expect(task.remove()).rejects.toMatchObject(closed);
				await expect(session.notifications.add({ notification, delivery })).rejects.toMatchObject(closed);
				await expect(session.notifications.setDelivery("n0a1b2c3d", delivery)).rejects.toMatchObject(closed);
			});
		});

		it("reads the events of a session that another process has open, without taking it over", async () => {
			const read = async (from: SessionStore, which = id) => {
				const events: AgentEvent[] = [];
				for await (const batch of from.readEvents(workDir, which)) events.push(...batch);
				return events;
			};
			expect(await read(store)).toEqual([]);
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ events: [1, 2].map((n) => eventAt({ type: "step.started", n })) });
			const far = await read(subject.openStore());
			expect(far).toHaveLength(2);
			expect(far).toEqual(await readAll(session));
			await session.commit({ events: [eventAt({ type: "step.started", n: 3 })] });
			expect(await read(store)).toHaveLength(3);
			await session.close();
			expect(await read(subject.openStore(), otherId)).toEqual([]);
		});

		it("reads the context of a session that another process has open, without taking it over", async () => {
			expect(await store.readContext(workDir, id)).toBeNull();
			const session = await store.openOrCreate(workDir, id);
			expect(await subject.openStore().readContext(workDir, id)).toBeNull();
			await session.commit({ context: { kind: "append", rows: everyRow } });
			expect(await subject.openStore().readContext(`${workDir}/x/..`, id)).toEqual(everyRow);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			expect(await store.readContext(workDir, id)).toEqual([...everyRow, promptRow]);
			await session.commit({ context: { kind: "replace", rows: [promptRow] } });
			expect(await subject.openStore().readContext(workDir, id)).toEqual([promptRow]);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await session.close();
			expect(await subject.openStore().readContext(workDir, id)).toEqual([promptRow, promptRow]);
			expect(await store.readContext(workDir, otherId)).toBeNull();
			expect(await store.readContext(`${workDir}-other`, id)).toBeNull();
		});

		describe("a session that is created with content", () => {
			const fill = async (session: StoredSession): Promise<void> => {
				await session.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
				await session.commit({ events: [eventAt({ type: "turn.ended", outcome: null })] });
				await session.commit({ context: { kind: "replace", rows: everyRow } });
				await session.commit({ state: { customTitle: "Copy", forkedFrom: otherId, planMode: true } });
				const agent = await session.createAgent({
					id: "a1",
					type: "coder",
					description: "d",
					createdAt: 1,
					modelOverride: null,
					effectiveModel: null,
				});
				await agent.begin("Go");
				await agent.changeContext({ kind: "append", rows: [promptRow] });
			};

			it("is there as a whole, with a history of its own, and is not the last one", async () => {
				await store.create(workDir, id, fill);
				for (const each of [store, subject.openStore()]) {
					expect((await each.list({ workDir })).sessions.map((found) => [found.id, found.title])).toEqual([
						[id, "Copy"],
					]);
					expect([await each.workDirOf(id), await each.lastSessionId(workDir)]).toEqual([workDir, null]);
					expect(await each.readContext(workDir, id)).toEqual(everyRow);
				}
				const session = await reopen();
				expect([session.existed, session.contextRows]).toEqual([true, everyRow]);
				expect((await readAll(session)).map((event) => [event.sessionId, event.seq, event.epoch])).toEqual([
					[id, 1, session.cursor().epoch],
					[id, 2, session.cursor().epoch],
				]);
				expect(session.state()).toMatchObject({ customTitle: "Copy", forkedFrom: otherId, planMode: true });
				expect((await session.openAgent("a1"))?.contextRows).toEqual([promptRow]);
				await session.close();
			});

			it("is nowhere before it is filled, and not at all when that fails", async () => {
				const failing = store.create(workDir, id, async (session) => {
					await fill(session);
					for (const each of [store, subject.openStore()]) {
						expect((await each.list({})).sessions).toEqual([]);
						expect([await each.workDirOf(id), await each.open(workDir, id)]).toEqual([null, null]);
					}
					throw new Error("no more");
				});
				await expect(failing).rejects.toThrow("no more");
				expect((await store.list({})).sessions).toEqual([]);
				expect(await subject.openStore().open(workDir, id)).toBeNull();
				await store.create(workDir, id, fill);
				expect(await store.workDirOf(id)).toBe(workDir);
			});

			it("may be empty, and keeps its state so", async () => {
				await store.create(workDir, id, (session) => session.establish());
				await store.create(workDir, otherId, async (session) => {
					await session.commit({ state: { forkedFrom: id } });
				});
				const session = await subject.openStore().open(workDir, otherId);
				expect(session?.state().forkedFrom ?? null).toBe(id);
				await session?.close();
			});

			it("never replaces another one", async () => {
				await store.create(workDir, id, fill);
				await expect(store.create(workDir, id, (session) => session.establish())).rejects.toMatchObject({
					code: "busy",
				});
				expect(await store.readContext(workDir, id)).toEqual(everyRow);
				await expect(store.create("here", otherId, fill)).rejects.toMatchObject({ code: "invalid-input" });
			});
		});

		describe.each([
			["one store", () => store],
			["two processes", () => subject.openStore()],
		])("an id under which two sessions are created at the same moment, by %s", (_, toSecond) => {
			const titles = ["one", "two"];

			it.each([
				["while both are filled", 1],
				["once both are filled", 2],
			])("names one of them, and the other learns that it is taken (%s)", async (_when, phase) => {
				const stores = [store, toSecond()];
				let arrived = 0;
				const together = createDeferred<void>();
				/** Goes on once both are here, or one will not come. */
				const meet = async () => {
					arrived += 1;
					if (arrived === 2) together.resolve();
					await together.promise;
				};
				const creations = titles.map((title, index) =>
					stores[index]
						?.create(workDir, id, async (session) => {
							if (phase === 1) await meet();
							await session.commit({ events: [eventAt({ type: "turn.started", input: title })] });
							await session.commit({ context: { kind: "replace", rows: [promptRow] }, state: { customTitle: title } });
							if (phase === 2) await meet();
						})
						.finally(together.resolve),
				);
				const outcomes = await Promise.allSettled(creations);
				const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
				expect(outcomes[1 - winner]).toMatchObject({
					status: "rejected",
					reason: { code: "busy", message: expect.stringMatching(/^There is a session|is being made/) },
				});
				const session = await reopen();
				expect([session.contextRows, session.state().customTitle]).toEqual([[promptRow], titles[winner]]);
				expect((await readAll(session)).map(({ body }) => body)).toMatchObject([{ input: titles[winner] }]);
				await session.close();
			});
		});

		describe("a deleted session", () => {
			const fill = async (each = id, inDir = workDir): Promise<StoredSession> => {
				const session = await store.openOrCreate(inDir, each);
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				await session.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
				return session;
			};

			it("is gone for good, and another one may get its id", async () => {
				const session = await fill();
				const agent = await session.createAgent({
					id: "a1",
					type: "coder",
					description: "d",
					createdAt: 1,
					modelOverride: null,
					effectiveModel: null,
				});
				await agent.begin("Go");
				await session.markStarted();
				await session.close();
				await (await fill(otherId)).close({ becomesLast: false });
				await store.delete(workDir, id);
				for (const each of [store, subject.openStore()]) {
					expect(await each.open(workDir, id)).toBeNull();
					expect(await each.readContext(workDir, id)).toBeNull();
					expect(await each.workDirOf(id)).toBeNull();
					expect(await each.lastSessionId(workDir)).toBeNull();
					expect((await each.list({})).sessions.map((found) => found.id)).toEqual([otherId]);
				}
				const fresh = await subject.openStore().openOrCreate(workDir, id);
				expect([fresh.existed, fresh.contextRows, await readAll(fresh), await fresh.openAgent("a1")]).toEqual([
					false,
					[],
					[],
					null,
				]);
			});

			it("may be archived or without a context", async () => {
				const archived = await fill();
				await archived.commit({ state: { archivedAt: 1_700_000_000 } });
				await archived.close();
				const begun = await store.openOrCreate(workDir, otherId);
				await begun.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
				await begun.close();
				for (const each of [id, otherId]) await subject.openStore().delete(workDir, each);
				expect((await store.list({ workDir })).sessions).toEqual([]);
			});

			it("need not exist", async () => {
				await store.delete(workDir, id);
				await (await fill()).close();
				await store.delete(`${workDir}-other`, id);
				await store.delete(workDir, otherId);
				expect(await subject.openStore().lastSessionId(workDir)).toBe(id);
			});

			it("must not be open", async () => {
				const session = await fill();
				await expect(subject.openStore().delete(workDir, id)).rejects.toMatchObject({
					code: "busy",
					message: expect.stringContaining(id),
				});
				await session.commit({ context: { kind: "append", rows: [promptRow] } });
				await session.close();
				expect((await subject.openStore().readContext(workDir, id)) ?? []).toHaveLength(2);
				await store.delete(workDir, id);
				expect(await store.open(workDir, id)).toBeNull();
			});

			it.each(["..", ".", "", "../x", "a/b", "a\0b"])("has an id that is a plain name, not %j", async (bad) => {
				await expect(store.delete(workDir, bad)).rejects.toMatchObject({ code: "invalid-input" });
				await expect(store.delete("here", id)).rejects.toMatchObject({ code: "invalid-input" });
			});
		});

		it("knows the work dir of a session by its id, also of one whose first turn has only begun", async () => {
			const begun = await store.openOrCreate(workDir, id);
			await begun.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
			expect(await subject.openStore().workDirOf(id)).toBe(workDir);
		});

		it("knows the work dir of a session by its id", async () => {
			expect(await store.workDirOf(id)).toBeNull();
			const other = await store.openOrCreate(`${workDir}-other`, otherId);
			await other.commit({ context: { kind: "append", rows: [promptRow] } });
			const session = await store.openOrCreate(workDir, id);
			expect(await store.workDirOf(id)).toBeNull();
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			expect(await subject.openStore().workDirOf(id)).toBe(workDir);
			expect(await subject.openStore().workDirOf(otherId)).toBe(`${workDir}-other`);
			await expect(store.workDirOf("../x")).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("refuses a relative work dir", async () => {
			await expect(store.openOrCreate("here", id)).rejects.toMatchObject({ code: "invalid-input" });
			await expect(store.list({ workDir: "here" })).rejects.toMatchObject({ code: "invalid-input" });
		});

		it("refuses writes after the end of ownership; ending it twice is fine", async () => {
			const session = await store.openOrCreate(workDir, id);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			const pending = session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
			await Promise.all([session.close(), session.close()]);
			await pending;
			const closed = { code: "closed" };
			await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject(closed);
			await expect(session.commit({ events: [] })).rejects.toMatchObject(closed);
			await expect(session.commit({}, { sync: true })).rejects.toMatchObject(closed);
			await expect(session.commit({ state: { planMode: true } })).rejects.toMatchObject(closed);
			await expect(session.markStarted()).rejects.toMatchObject(closed);
			expect((await reopen()).contextRows).toHaveLength(2);
		});
	});
}
