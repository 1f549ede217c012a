// The fork of a session: what it has of the session it was copied from, and what it does not.
import { describe, expect, it } from "vitest";
import { createHost, runTurn } from "../../../test/support/sessions/session-host.ts";
import type { ForkCut } from "../../api/session-options.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { eachOf } from "../../base/collections.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore, StoredSession } from "../../ports/store/session-store.ts";
import { plainRequest } from "./hosted-options.ts";
import { writeFork } from "./session-fork.ts";

const workDir = "/work";
const sourceId = "11111111-2222-4333-8444-555555555555";
const forkId = "99999999-2222-4333-8444-555555555555";

const row = (message: HistoryEntry): ContextRow => ({ type: "message", message });
const text = (value: string) => [{ type: "text" as const, text: value }];
const user = (value: string) => row({ role: "user", content: text(value) });
const assistant = (value: string) => row({ role: "assistant", content: text(value) });
const call = { type: "function", id: "c1", function: { name: "Shell", arguments: "{}" }, extras: null } as const;
const calling = row({ role: "assistant", content: text("I look."), toolCalls: [call] });
const result = row({ role: "tool", content: text("done"), toolCallId: "c1" });

/** Two turns, the first of them with a tool and two steps. */
const rows: readonly ContextRow[] = [
	{ type: "system-prompt", content: "Be brief." },
	{ type: "checkpoint", id: 0 },
	user("one"),
	calling,
	result,
	{ type: "usage", tokenCount: 7 },
	assistant("It is done."),
	{ type: "usage", tokenCount: 9 },
	user("two"),
	assistant("Two."),
];

const turn = (turnId: string, ...bodies: readonly EventBody[]): readonly AgentEvent[] =>
	bodies.map((body, index) => ({ sessionId: sourceId, turnId, agentPath: [], at: 1000 + index, body }));
const ended: EventBody = { type: "turn.ended", outcome: { status: "finished" } };
const said = (value: string): EventBody => ({ type: "content.completed", part: { type: "text", text: value } });

const events: readonly AgentEvent[] = [
	...turn(
		"t1",
		{ type: "turn.started", input: "one" },
		{ type: "step.started", n: 1 },
		said("I look."),
		{ type: "tool.requested", call },
		{ type: "tool.started", toolCallId: "c1", name: "Shell", arguments: "{}", has_effect: true },
		{
			type: "tool.result",
			toolCallId: "c1",
			result: { is_error: false, output: "done", message: "", display: [], extras: null },
		},
		{ type: "step.started", n: 2 },
		said("It is done."),
		ended,
	),
	...turn("t2", { type: "turn.started", input: "two" }, { type: "step.started", n: 1 }, said("Two."), ended),
];

async function fill(session: StoredSession): Promise<void> {
	await session.commit({ events });
	await session.commit({ context: { kind: "replace", rows } });
	await session.commit({
		state: {
			approval: { yolo: true, afk: true, autoApproveActions: ["Shell(rm:*)"] },
			additionalDirs: ["/more"],
			customTitle: "About one",
			todos: [{ title: "rest", status: "pending" }],
			creationOptions: { tools: "all", approves_everything: true, budgets: {} },
		},
	});
	const agent = await session.createAgent({
		id: "a1",
		type: "coder",
		description: "d",
		createdAt: 1,
		modelOverride: null,
		effectiveModel: null,
	});
	await agent.begin("Go");
	await agent.changeContext({ kind: "append", rows: [user("Go")] });
	const agentPath = [{ parentToolCallId: "c1", agentId: "a1", subagentType: "coder" }];
	await session.commit({
		events: [{ sessionId: sourceId, turnId: "t2", agentPath, at: 1, body: { type: "turn.started", input: "Go" } }],
	});
}

async function fork(cut: ForkCut | null): Promise<{ readonly store: SessionStore; readonly forked: StoredSession }> {
	const store = createMemoryStore();
	await store.create(workDir, sourceId, fill);
	const stored = await store.openOrCreate(workDir, sourceId);
	const source = { stored, rows, messages: null, end: stored.cursor().seq, plan: {} };
	await store.create(workDir, forkId, (target) => writeFork(source, cut === null ? {} : { cut }, target));
	return { store, forked: await store.openOrCreate(workDir, forkId) };
}

async function typesOf(session: StoredSession): Promise<readonly string[]> {
	const types: string[] = [];
	for await (const { body, agentPath } of eachOf(session.events())) if (agentPath.length === 0) types.push(body.type);
	return types;
}

describe("the fork of a session", () => {
	it("has the whole state, under its own id and in a history of its own", async () => {
		const { store, forked } = await fork(null);
		expect(forked.contextRows).toEqual(rows);
		const copied: AgentEvent[] = [];
		for await (const event of eachOf(forked.events())) copied.push(event);
		expect(copied.map(({ body, at, turnId }) => ({ body, at, turnId })).slice(0, events.length)).toEqual(
			events.map(({ body, at, turnId }) => ({ body, at, turnId })),
		);
		expect(new Set(copied.map(({ sessionId }) => sessionId))).toEqual(new Set([forkId]));
		expect(forked.cursor().epoch).not.toBe((await store.openOrCreate(workDir, sourceId)).cursor().epoch);
		expect(forked.summary).toMatchObject({ unfinishedCalls: [], unretained: [], isInStep: false });
		expect((await forked.openAgent("a1"))?.contextRows).toEqual([user("Go")]);
		expect(forked.state()).toMatchObject({
			additionalDirs: ["/more"],
			customTitle: "Fork: About one",
			todos: [{ title: "rest", status: "pending" }],
			forkedFrom: sourceId,
		});
	});

	it("asks again for what a person approved for the other session, and keeps what its creator decided", async () => {
		const { forked } = await fork(null);
		const { approval, creationOptions } = forked.state();
		expect(approval).toEqual({ yolo: true, afk: false, autoApproveActions: [] });
		expect(creationOptions).toEqual({ tools: "all", approves_everything: true, budgets: {} });
	});

	it.each([
		[0, ["system-prompt", "checkpoint"], []],
		[3, ["system-prompt", "checkpoint", "message", "message", "message", "usage"], 6],
		[4, ["system-prompt", "checkpoint", "message", "message", "message", "usage", "message", "usage"], 9],
		[5, [...rows.slice(0, 9).map((each) => each.type)], 10],
		[6, rows.map((each) => each.type), 13],
	] as const)("is cut after %i messages, in the log as in the context", async (messages, expected, logged) => {
		const { forked } = await fork({ messages });
		expect(forked.contextRows.map((each) => each.type)).toEqual(expected);
		const types = await typesOf(forked);
		const whole = events.slice(0, logged === undefined || typeof logged !== "number" ? 0 : logged);
		const isWithin = whole.length > 0 && whole.at(-1)?.body.type !== "turn.ended";
		expect(types).toEqual([...whole.map(({ body }) => body.type), ...(isWithin ? ["turn.ended"] : [])]);
		expect(forked.state().todos).toEqual([]);
		expect(forked.summary).toMatchObject({ unfinishedCalls: [], unretained: [], isInStep: false });
	});

	it("is not cut between a call and its result, nor behind the end", async () => {
		await expect(fork({ messages: 2 })).rejects.toMatchObject({
			code: "invalid-input",
			message:
				"The conversation cannot be cut after 2 messages: tool calls would be without their results (c1); cut it after 3 messages, or before the message that has them.",
		});
		await expect(fork({ messages: 7 })).rejects.toMatchObject({
			code: "invalid-input",
			message: "The conversation cannot be cut after 7 messages: it has 6.",
		});
	});

	it("has another message in place of those that are cut off", async () => {
		const replacement: HistoryEntry = { role: "user", content: text("Something else.") };
		const { forked } = await fork({ messages: 4, replacement });
		expect(forked.contextRows.at(-1)).toEqual(row(replacement));
		expect(forked.contextRows).toHaveLength(9);
	});

	it("has the plan of a session in plan mode as a plan of its own", async () => {
		const store = createMemoryStore();
		const { host, files } = await createHost({}, { store });
		const handle = await host.create({ ...plainRequest, tools: "all" });
		await runTurn(handle);
		await handle.session.send({ type: "plan-mode.set", enabled: true });
		const planOf = async (id: string) =>
			`/share/plans/${String((await store.openOrCreate(workDir, id)).state().planSlug)}.md`;
		const before = await planOf(handle.session.id);
		await files.makeDirectory("/share/plans");
		await files.replace(before, "First this, then that.");
		const { id } = await host.fork(handle.session.id);
		const forked = await host.acquire(id);
		expect((await forked.session.snapshot()).planMode).toBe(true);
		const after = await planOf(id);
		expect(after).not.toBe(before);
		expect(String(await files.read(after))).toBe("First this, then that.");
	});
});
