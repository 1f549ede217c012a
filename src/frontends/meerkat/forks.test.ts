// Where a fork is cut: by the messages that the history counts, of which results of tools are one.
import { describe, expect, it } from "vitest";
import type { MessageHistory } from "../../api/session-state.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { countMessages, toCut, toReplacingCut } from "./forks.ts";

const text = (value: string) => [{ type: "text" as const, text: value }];
const call = (id: string) => ({
	type: "function" as const,
	id,
	function: { name: "x", arguments: "{}" },
	extras: null,
});
const messages: readonly HistoryEntry[] = [
	{ role: "user", content: text("go") },
	{ role: "assistant", content: text("I call."), toolCalls: [call("c1"), call("c2")] },
	{ role: "tool", content: text("1"), toolCallId: "c1" },
	{ role: "tool", content: text("2"), toolCallId: "c2" },
	{ role: "assistant", content: text("Done.") },
];
const history: MessageHistory = { systemPrompt: "Be brief.", messages };

describe("a fork", () => {
	it("is cut before a message of the history", () => {
		expect(countMessages(history)).toBe(5);
		expect([0, 1, 2, 3, 4, 5].map((index) => toCut(history, index).messages)).toEqual([0, 0, 1, 2, 4, 5]);
		expect(toCut({ ...history, systemPrompt: null }, 3).messages).toBe(4);
		expect(() => toCut(history, 6)).toThrow("message index 6 out of bounds for 5 messages");
	});

	it("has another message in place of one", () => {
		const message = { role: "user", content: [{ type: "text", text: "no" }] } as const;
		expect(toReplacingCut(history, 1, { type: "message", message: { role: "user", content: "no" } })).toEqual({
			messages: 0,
			replacement: message,
		});
		const block = { type: "image", source: "inline", media_type: "image/png", data: "AA==" } as const;
		expect(toReplacingCut(history, 1, { type: "user_content_block", block_index: 0, block })).toEqual({
			messages: 0,
			replacement: {
				role: "user",
				content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==", id: null } }],
			},
		});
	});

	it("refuses a block that is not there, by what is wrong", () => {
		const block = { type: "text", text: "x" } as const;
		const user = (at: number, index: number) => () =>
			toReplacingCut(history, index, { type: "user_content_block", block_index: at, block });
		expect(user(1, 1)).toThrow("block_index 1 is out of bounds: message 1 has 1 blocks");
		expect(user(0, 4)).toThrow("message 4 has the role assistant, not user");
		expect(user(0, 0)).toThrow("message_index 0 is the system prompt");
		expect(user(0, 5)).toThrow("out of bounds for 5 messages");
		expect(() => toReplacingCut(history, 2, { type: "assistant_block", block_index: 0, block })).toThrow(
			"message 2 has tool calls",
		);
	});
});
