import { describe, expect, it } from "vitest";
import { whatIsIllegal } from "../../../test/support/models/campaign-model.ts";
import { toolCall } from "../../../test/support/models/model-conversation.ts";
import { sessionId } from "../../../test/support/store/failing-session.ts";
import { toolSuccess } from "../../api/values/content.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { Context, messageRow, userRow } from "../../core/agent/context.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore, StoredSession } from "../../ports/store/session-store.ts";
import { createRecovery } from "./recovery.ts";

const open = (store: SessionStore) => store.openOrCreate("/home/me/project", sessionId);
const contextOf = (stored: StoredSession) =>
	new Context({ change: (context) => stored.commit({ context }) }, stored.contextRows, "");
const at = (body: EventBody): AgentEvent => ({ sessionId, turnId: "t", agentPath: [], at: 1, body });
const recover = (stored: StoredSession, context: Context) =>
	createRecovery(stored, context, async (body) => void (await stored.commit({ events: [at(body)] })))();

const started = (toolCallId: string, name: string): EventBody => ({
	type: "tool.started",
	toolCallId,
	name,
	arguments: "{}",
	has_effect: true,
});

async function crashAfter(...bodies: readonly EventBody[]): Promise<SessionStore> {
	const store = createMemoryStore();
	const stored = await open(store);
	await stored.commit({ context: { kind: "append", rows: [userRow("do it")] } });
	await stored.commit({ events: bodies.map(at) });
	return store;
}

const crash = (...names: readonly string[]) =>
	crashAfter(...names.map((name, index) => started(`c${index + 1}`, name)));

describe("createRecovery", () => {
	it("does nothing without open calls", async () => {
		const stored = await open(await crash());
		const context = contextOf(stored);
		expect(await recover(stored, context)).toBeNull();
		expect(context.messages).toHaveLength(1);
	});

	it("answers every open call so that providers accept the history, and informs the person", async () => {
		const store = await crash("Shell", "WriteFile");
		const stored = await open(store);
		const context = contextOf(stored);
		const notice = await recover(stored, context);
		expect(notice?.text).toContain("`Shell`, `WriteFile`");
		expect(notice?.text).toContain("unknown");
		expect(context.messages.map(({ role, toolCallId }) => [role, toolCallId])).toEqual([
			["user", undefined],
			["assistant", undefined],
			["tool", "c1"],
			["tool", "c2"],
		]);
		expect(whatIsIllegal(context.messages)).toBeNull();
		expect(JSON.stringify(context.messages.at(-1))).toContain("<system>ERROR: The outcome of this call is unknown");
		await notice?.settle();
		const again = await open(store);
		expect(again.summary.unfinishedCalls).toEqual([]);
		expect(await recover(again, contextOf(again))).toBeNull();
	});

	it("closes the context once when it crashes before the journal is written", async () => {
		const store = await crash("Shell");
		const first = await open(store);
		const dying = createRecovery(first, contextOf(first), () => Promise.reject(new Error("killed")));
		await expect(dying()).rejects.toThrow("killed");
		const second = await open(store);
		const context = contextOf(second);
		expect((await recover(second, context))?.text).toContain("`Shell`");
		expect(context.messages).toHaveLength(3);
	});

	it("informs the person until the notice is settled, and closes the context once", async () => {
		const store = await crash("Shell");
		for (const _ of [1, 2]) {
			const stored = await open(store);
			const context = contextOf(stored);
			expect((await recover(stored, context))?.text).toContain("`Shell`");
			await context.append([userRow("more")]);
			expect(context.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
		}
		const stored = await open(store);
		await (await recover(stored, contextOf(stored)))?.settle();
		expect((await open(store)).summary.unfinishedCalls).toEqual([]);
	});

	it("answers the calls whose results a partial write lost", async () => {
		const store = await crash();
		const stored = await open(store);
		const toolCalls = [toolCall("c1", "T", "{}"), toolCall("c2", "T", "{}")];
		const rows = [
			messageRow({ role: "assistant", content: [], toolCalls }),
			messageRow({ role: "tool", toolCallId: "c1", content: [{ type: "text", text: "a" }] }),
		];
		await stored.commit({ context: { kind: "append", rows } });
		const again = await open(store);
		const context = contextOf(again);
		expect(await recover(again, context)).toBeNull();
		expect(whatIsIllegal([...context.messages, { role: "user", content: [] }])).toBeNull();
	});

	it("gives the model the inputs of turns that ended before their first step, each once", async () => {
		const begun = (turnId: string, input: string, enters = true): AgentEvent => ({
			...at({ type: "turn.started", input, ...(enters ? { enters_context: true as const } : {}) }),
			turnId,
		});
		const texts = ({ messages }: Context) =>
			messages.map(({ content }) => content.map((part) => "text" in part && part.text));
		const store = await crash();
		const first = await open(store);
		await first.commit({ events: [begun("t1", "/compact", false), begun("t2", "first")] });
		// Its process ends between the repair and the first step.
		const second = await open(store);
		await recover(second, contextOf(second));
		await second.commit({ events: [begun("t3", "second")] });
		const third = await open(store);
		const context = contextOf(third);
		await recover(third, context);
		expect(texts(context)).toEqual([["do it"], ["first"], ["second"]]);
		await third.commit({ events: [at({ type: "step.started", n: 1 })] });
		expect((await open(store)).summary.startedInputs).toEqual([]);
	});

	it("gives the model an input after the step that was interrupted before its turn began", async () => {
		const store = await crashAfter(
			{ type: "step.started", n: 1 },
			{ type: "content.completed", part: { type: "text", text: "I look first." } },
		);
		const first = await open(store);
		const input = { type: "turn.started", input: "go on", enters_context: true } as const;
		await first.commit({ events: [{ ...at(input), turnId: "t2" }] });
		const stored = await open(store);
		const context = contextOf(stored);
		await recover(stored, context);
		expect(context.messages.map(({ content }) => content)).toEqual(
			["do it", "I look first.", "go on"].map((text) => [{ type: "text", text }]),
		);
	});

	it("adds no input of a turn that has an end", async () => {
		const store = await crashAfter(
			{ type: "turn.started", input: "no", enters_context: true },
			{ type: "turn.ended", outcome: { status: "cancelled" } },
		);
		const stored = await open(store);
		const context = contextOf(stored);
		await recover(stored, context);
		expect(context.messages).toHaveLength(1);
	});

	it("gives the model what an interrupted step had said, done and begun", async () => {
		const requested = (id: string): EventBody => ({ type: "tool.requested", call: toolCall(id, "T", "{}") });
		const store = await crashAfter(
			{ type: "step.started", n: 1 },
			{ type: "content.completed", part: { type: "text", text: "I look first." } },
			requested("c1"),
			requested("c2"),
			requested("c3"),
			started("c1", "T"),
			started("c2", "T"),
			{ type: "tool.result", toolCallId: "c1", result: toolSuccess({ output: "found" }) },
		);
		const stored = await open(store);
		const context = contextOf(stored);
		await recover(stored, context);
		expect(whatIsIllegal(context.messages)).toBeNull();
		const [, said, ...answers] = context.messages;
		expect(said).toMatchObject({ role: "assistant", content: [{ type: "text", text: "I look first." }] });
		expect(answers.map(({ content }) => JSON.stringify(content))).toEqual([
			expect.stringContaining("found"),
			expect.stringContaining("unknown"),
			expect.stringContaining("not run"),
		]);
		const again = await open(store);
		const later = contextOf(again);
		await recover(again, later);
		expect(later.messages).toHaveLength(context.messages.length);
	});

	it("does not give the model a part of an answer that was void, or of a step that ended", async () => {
		const text: EventBody = { type: "content.completed", part: { type: "text", text: "half" } };
		const retrying = { n: 1, next_attempt: 2, max_attempts: 3, wait_s: 0, error_type: "E", status_code: null };
		for (const bodies of [
			[text, { type: "step.retrying", ...retrying }],
			[text, { type: "step.interrupted", reason: "cancelled" }],
			[text, { type: "turn.ended", outcome: { status: "cancelled" } }],
		] satisfies readonly (readonly EventBody[])[]) {
			const stored = await open(await crashAfter({ type: "step.started", n: 1 }, ...bodies));
			const context = contextOf(stored);
			await recover(stored, context);
			expect(context.messages).toHaveLength(1);
		}
	});
});
