import { describe, expect, it } from "vitest";
import { turnEvent } from "../../../../test/support/gateway/turn-event.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import { mergeEvents } from "./delta-merging.ts";

const says = (text: string, offset?: number, more: Partial<AgentEvent> = {}) =>
	turnEvent({ type: "content.delta", part: { type: "text", text }, ...(offset === undefined ? {} : { offset }) }, more);
const thinks = (think: string, offset: number) =>
	turnEvent({ type: "content.delta", part: { type: "think", think, encrypted: null }, offset });
const prints = (text: string, offset: number, toolCallId = "c", stream: "stdout" | "stderr" = "stdout") =>
	turnEvent({ type: "tool.progress", toolCallId, stream, text, offset });

describe("mergeEvents", () => {
	it("joins texts that follow each other", () => {
		expect(mergeEvents(says("ab", 3), says("cd", 5))).toEqual(says("abcd", 3));
		expect(mergeEvents(thinks("ab", 0), thinks("cd", 2))).toEqual(thinks("abcd", 0));
		expect(mergeEvents(prints("ab", 0), prints("\n", 2))).toEqual(prints("ab\n", 0));
		const argument = (text: string, offset: number) =>
			turnEvent({ type: "tool-call.delta", arguments_part: text, offset });
		expect(mergeEvents(argument("{", 0), argument("}", 1))).toEqual(argument("{}", 0));
	});

	it.each<[string, AgentEvent, AgentEvent]>([
		["with a gap between them", says("ab", 0), says("cd", 3)],
		["that overlap", says("ab", 0), says("cd", 1)],
		["without offsets", says("ab"), says("cd")],
		["of which one is a thought", says("ab", 0), thinks("cd", 2)],
		["of two calls", prints("ab", 0), prints("cd", 2, "d")],
		["of two streams", prints("ab", 0), prints("cd", 2, "c", "stderr")],
		["of two turns", says("ab", 0), says("cd", 2, { turnId: "u" })],
		[
			"of two agents",
			says("ab", 0),
			says("cd", 2, { agentPath: [{ parentToolCallId: "c", agentId: "a", subagentType: null }] }),
		],
		[
			"that are no texts",
			turnEvent({ type: "mode.changed", mode: "plan" }),
			turnEvent({ type: "mode.changed", mode: "plan" }),
		],
	])("leaves apart those %s", (_name, first, second) => {
		expect(mergeEvents(first, second)).toBeNull();
	});
});
