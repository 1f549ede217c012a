import { describe, expect, it } from "vitest";
import { notificationLine } from "../../ports/rpc/envelope.ts";
import { createUpdateLines } from "./update-lines.ts";
import type { Update } from "./wire-updates.ts";

const sessionId = 'a "session"';
const toLine = createUpdateLines(sessionId);
const usual = (update: Update) => notificationLine("session/update", { sessionId, update });

describe("the lines of chunks", () => {
	for (const sessionUpdate of ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"] as const) {
		it(`are those of any other notification: ${sessionUpdate}`, () => {
			for (const text of ["", "plain", 'a "b" \\ \n \u2028 \ud800 é 日本', "\u001f text \u001f", "x".repeat(65_536)]) {
				for (const messageId of ["turn-1-1", 'odd "id"\u2029']) {
					const update: Update = { sessionUpdate, content: { type: "text", text }, messageId };
					expect(toLine(update)).toBe(usual(update));
				}
			}
		});
	}

	it("are made for nothing else", () => {
		const others: readonly Update[] = [
			{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x".repeat(65_537) }, messageId: "m" },
			{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } },
			{
				sessionUpdate: "user_message_chunk",
				content: { type: "image", mimeType: "image/png", data: "" },
				messageId: "m",
			},
			{ sessionUpdate: "plan", entries: [] },
		];
		expect(others.map(toLine)).toEqual([null, null, null, null]);
	});
});
