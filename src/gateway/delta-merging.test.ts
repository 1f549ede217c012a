import { describe, expect, it } from "vitest";
import type { AgentEvent, EventBody } from "../events/event.ts";
import { mergeEvents } from "./delta-merging.ts";

const event = (body: EventBody, more: Partial<AgentEvent> = {}): AgentEvent => ({
	sessionId: "s",
	turnId: "t",
	agentPath: [],
	at: 1,
	body,
	...more,
});
const says = (text: string, offset?: number, more: Partial<AgentEvent> = {}) =>
	event({ type: "content.delta", part: { type: "text", text }, ...(offset === undefined ? {} : { offset }) }, more);
const thinks = (think: string, offset: number) =>
	event({ type: "content.delta", part: { type: "think", think, encrypted: null }, offset });
const prints = (text: string, offset: number, toolCallId = "c", stream: "stdout" | "stderr" = "stdout") =>
	event({ type: "tool.progress", toolCallId, stream, text, offset });

describe("mergeEvents", () => {
	it("joins texts that follow each other", () => {
		expect(mergeEvents(says("ab", 3), says("cd", 5))).toEqual(says("abcd", 3));
		expect(mergeEvents(thinks("ab", 0), thinks("cd", 2))).toEqual(thinks("abcd", 0));
		expect(mergeEvents(prints("ab", 0), prints("\n", 2))).toEqual(prints("ab\n", 0));
		const argument = (text: string, offset: number) => event({ type: "tool-call.delta", arguments_part: text, offset });
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
		["that are no texts", event({ type: "mode.changed", mode: "plan" }), event({ type: "mode.changed", mode: "plan" })],
	])("leaves apart those %s", (_name, first, second) => {
		expect(mergeEvents(first, second)).toBeNull();
	});
});
