import { expect, it } from "vitest";
import { toolSuccess } from "../../../api/values/content.ts";
import type { EventBody } from "../../../api/values/event.ts";
import { newFacts, withEvent } from "./facts.ts";

const begin: EventBody = { type: "turn.started", input: "go" };
const step = (n: number): EventBody => ({ type: "step.started", n });
const began = (toolCallId: string): EventBody => ({
	type: "tool.started",
	toolCallId,
	name: "T",
	arguments: "{}",
	has_effect: true,
});
const result = (toolCallId: string): EventBody => ({
	type: "tool.result",
	toolCallId,
	result: toolSuccess({ output: "done" }),
});
const interrupted = (reason: "cancelled" | "error"): EventBody => ({ type: "step.interrupted", reason });

// The message history has a system prompt, the prompt, an answer of the model for each step, and one message for its results.
it.each<readonly [string, number, readonly EventBody[]]>([
	["a turn", 3, [begin, step(1)]],
	["a turn with calls", 5, [begin, step(1), began("1"), result("1"), result("2"), step(2)]],
	["two turns", 5, [begin, step(1), begin, step(1)]],
	["a turn whose model did not answer", 2, [begin, step(1), interrupted("error")]],
	["a turn that was cancelled before its answer", 2, [begin, step(1), interrupted("cancelled")]],
	["a turn that was cancelled in a call", 2, [begin, step(1), began("1"), result("1"), interrupted("cancelled")]],
	["a turn that was cancelled later", 4, [begin, step(1), began("1"), result("1"), step(2), interrupted("cancelled")]],
	["a turn that failed after a call had acted", 4, [begin, step(1), began("1"), result("1"), interrupted("error")]],
	["a turn after one that failed", 4, [begin, step(1), interrupted("error"), begin, step(1)]],
])("counts the messages that %s leaves: %i", (_what, count, bodies) => {
	const events = bodies.map((body, at) => ({ sessionId: "s", turnId: "t", agentPath: [], at, body }));
	expect(events.reduce(withEvent, newFacts(0)).messageCount).toBe(count);
});
