import { describe, expect, it } from "vitest";
import {
	answered,
	callBegins,
	callCompleted,
	coder,
	interrupted,
	notification,
	type PlayedEvent,
	plan,
	playEvents,
	result,
	retry,
	step,
	text,
	thought,
	turnBegins,
	turnEnds,
} from "../../../test/support/protocol/printed-events.ts";
import { allSamples } from "../../../test/support/protocol/sample-events.ts";
import { toolError, toolSuccess } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import { createTextPrinter } from "./print-text.ts";

const play = (...events: readonly PlayedEvent[]) => playEvents(createTextPrinter, ...events).written.join("");

describe("createTextPrinter", () => {
	it("prints the answer as it streams, without reasoning", () => {
		const { written } = playEvents(createTextPrinter, turnBegins, step(1), thought("hm"), text("Hel"), text("lo"));
		expect(written).toEqual(["Hel", "lo"]);
	});

	it("ends the last line of a turn exactly once", () => {
		expect(play(turnBegins, step(1), text("a"), answered, turnEnds)).toBe("a\n");
		expect(play(turnBegins, step(1), text("a\n"), answered, turnEnds)).toBe("a\n");
		expect(play(turnBegins, turnEnds)).toBe("");
	});

	it.each([
		["tokens", 8, 10, "* The turn has used 8 of its 10 tokens.\n"],
		["time", 2.402, 3, "* The turn has used 2.402 of its 3 s.\n"],
		["tool-calls", 5, 5, "* The turn has used 5 of its 5 tool calls.\n"],
	] as const)("reports that the budget of %s is nearly exhausted", (budget, used, limit, line) => {
		const warning: EventBody = { type: "budget.warning", budget, scope: "turn", used, limit };
		expect(play(turnBegins, step(1), text("a"), warning, turnEnds)).toBe(`a\n${line}`);
	});

	it("prints calls and results on their own lines", () => {
		const printed = play(
			turnBegins,
			step(1),
			text("I look."),
			callBegins("c1", "Shell", "{"),
			callCompleted("c1", "Shell", '{"command":"ls\\n"}'),
			callCompleted("c2", "Think", null),
			answered,
			result("c2", toolSuccess({})),
			result("c1", toolSuccess({ output: "a.txt\nb.txt\n", message: "Command executed successfully." })),
			step(2),
			text("Two."),
			turnEnds,
		);
		expect(printed).toBe(
			[
				"I look.",
				'> Shell {"command":"ls\\n"}',
				"> Think",
				"< Think: done",
				"< Shell: a.txt (2 lines)",
				"Two.",
				"",
			].join("\n"),
		);
	});

	it.each([
		["the output", toolSuccess({ output: "x", message: "m" }), "< T: x\n"],
		["the message when there is no output", toolSuccess({ message: "All good." }), "< T: All good.\n"],
		["text parts", toolSuccess({ output: [{ type: "text", text: "a\nb\nc" }] }), "< T: a (3 lines)\n"],
		[
			"parts without text",
			toolSuccess({ output: [{ type: "image_url", image_url: { url: "u", id: null } }] }),
			"< T: [image]\n",
		],
		["the brief of a failure", toolError("long story", "Bad\nluck"), "< T failed: Bad luck\n"],
		["the message of a failure without one", toolError("long story", ""), "< T failed: long story\n"],
		["no control characters", toolSuccess({ output: "\u001b[2Jx" }), "< T: [2Jx\n"],
		["at most one line", toolSuccess({ output: "y".repeat(500) }), `< T: ${"y".repeat(159)}…\n`],
	])("of a result prints %s", (_name, value, expected) => {
		expect(play(callCompleted("c1", "T", null), result("c1", value))).toBe(`> T\n${expected}`);
	});

	it("reports that a retried answer starts anew", () => {
		expect(play(step(1), text("half an ans"), retry, text("whole"), turnEnds)).toBe(
			"half an ans\n* Retrying in 0.5 s (attempt 2 of 3): HTTP 503\nwhole\n",
		);
	});

	it("prints notifications and plans", () => {
		expect(play(text("a"), notification, plan)).toBe(
			"a\n* success: Build done: exit code 0 in 3 s\n* The plan in /plans/a.md:\n# Plan\n\n1. Do it.\n",
		);
	});

	it("prints what subagents do, under their names, but not their answers", () => {
		const of = (body: EventBody) => ({ of: coder, body });
		const printed = play(
			callCompleted("c1", "Agent", "{}"),
			of(step(1)),
			of({ type: "content.completed", part: { type: "text", text: "secret" } }),
			of(callCompleted("c1", "Grep", '{"pattern":"x"}')),
			of(result("c1", toolSuccess({ output: "hit" }))),
			of(turnEnds),
			result("c1", toolSuccess({ output: "report" })),
		);
		expect(printed).toBe(
			[
				"> Agent {}",
				'> [coder a1b2c3d4e] Grep {"pattern":"x"}',
				"< [coder a1b2c3d4e] Grep: hit",
				"< Agent: report",
				"",
			].join("\n"),
		);
	});

	it("prints a failure on its own line", () => {
		const { printer, written } = playEvents(createTextPrinter, turnBegins, step(1), text("so far"), interrupted);
		printer.fail({ message: "out of \u001bluck", code: "cancelled", status: "cancelled", exitCode: 1 });
		expect(written.join("")).toBe("so far\nError: out of luck\n");
	});

	it("removes control characters from the model's output", () => {
		expect(play(text("a\u001b]0;title\u0007b"), turnEnds)).toBe("a]0;titleb\n");
	});

	it("accepts every event type, and ends the last line after a turn", () => {
		expect(play(...allSamples, turnEnds)).toBe(
			[
				"* Retrying in 0.5 s (attempt 2 of 3): HTTP 429: Too many requests.",
				"* Retrying in 0.5 s (attempt 2 of 3): APIConnectionError",
				"* The context is being summarized.",
				"* The turn has used 8 of its 10 tool calls.",
				"* success: t: b",
				"Hel",
				'> Shell {"command":"ls"}',
				"> Shell",
				"< Shell: a.txt",
				"< Shell failed: b",
				"< Shell: [image]",
				"* The plan in /plans/a.md:",
				"# plan",
				"",
			].join("\n"),
		);
	});
});
