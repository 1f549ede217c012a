import { describe, expect, it } from "vitest";
import { whatIsIllegal } from "../../../test/support/campaign-model.ts";
import { sessionId } from "../../../test/support/failing-session.ts";
import { toolCall } from "../../../test/support/model-conversation.ts";
import { Context, messageRow, userRow } from "../../agent/context.ts";
import { createMemoryStore } from "../../store/memory/memory-store.ts";
import type { SessionStore, StoredSession } from "../../store/session-store.ts";
import { recoverCalls } from "./recovery.ts";

const open = (store: SessionStore) => store.openOrCreate("/home/me/project", sessionId);
const contextOf = (stored: StoredSession) => new Context(stored, stored.contextRows, "");

async function crash(...names: readonly string[]): Promise<SessionStore> {
	const store = createMemoryStore();
	const stored = await open(store);
	await stored.appendContext([userRow("do it")]);
	await stored.appendCalls(
		names.map((name, index) => ({ type: "started", toolCallId: `c${index + 1}`, name, arguments: "{}" })),
	);
	return store;
}

describe("recoverCalls", () => {
	it("does nothing without open calls", async () => {
		const stored = await open(await crash());
		const context = contextOf(stored);
		expect(await recoverCalls(stored, context)).toBeNull();
		expect(context.messages).toHaveLength(1);
	});

	it("answers every open call so that providers accept the history, and informs the person", async () => {
		const store = await crash("Shell", "WriteFile");
		const stored = await open(store);
		const context = contextOf(stored);
		const notice = await recoverCalls(stored, context);
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
		expect(again.unfinishedCalls).toEqual([]);
		expect(await recoverCalls(again, contextOf(again))).toBeNull();
	});

	it("closes the context once when it crashes before the journal is written", async () => {
		const store = await crash("Shell");
		const first = await open(store);
		const dying = { ...first, appendCalls: () => Promise.reject(new Error("killed")) };
		await expect(recoverCalls(dying, contextOf(first))).rejects.toThrow("killed");
		const second = await open(store);
		const context = contextOf(second);
		expect((await recoverCalls(second, context))?.text).toContain("`Shell`");
		expect(context.messages).toHaveLength(3);
	});

	it("informs the person until the notice is settled, and closes the context once", async () => {
		const store = await crash("Shell");
		for (const _ of [1, 2]) {
			const stored = await open(store);
			const context = contextOf(stored);
			expect((await recoverCalls(stored, context))?.text).toContain("`Shell`");
			await context.append([userRow("more")]);
			expect(context.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
		}
		const stored = await open(store);
		await (await recoverCalls(stored, contextOf(stored)))?.settle();
		expect((await open(store)).unfinishedCalls).toEqual([]);
	});

	it("answers the calls whose results a partial write lost", async () => {
		const store = await crash();
		const stored = await open(store);
		const toolCalls = [toolCall("c1", "T", "{}"), toolCall("c2", "T", "{}")];
		await stored.appendContext([
			messageRow({ role: "assistant", content: [], toolCalls }),
			messageRow({ role: "tool", toolCallId: "c1", content: [{ type: "text", text: "a" }] }),
		]);
		const again = await open(store);
		const context = contextOf(again);
		expect(await recoverCalls(again, context)).toBeNull();
		expect(whatIsIllegal([...context.messages, { role: "user", content: [] }])).toBeNull();
	});
});
