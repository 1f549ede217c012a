import { describe, expect, it } from "vitest";
import {
	answered,
	argumentsGoOn,
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
	turnIsCancelled,
} from "../../../test/support/protocol/printed-events.ts";
import { allSamples, sampleEvents } from "../../../test/support/protocol/sample-events.ts";
import { toolError, toolSuccess } from "../../api/values/content.ts";
import { type EventType, statusChanged } from "../../api/values/event.ts";
import { createStreamJsonPrinter, messageForm } from "./print-stream-json.ts";
import type { Write } from "./printer.ts";

/** The lines as values; each is written at once and whole. */
function play(...events: readonly PlayedEvent[]): unknown[] {
	return playEvents(createPrinter, ...events).written.map((line) => {
		expect(line.indexOf("\n")).toBe(line.length - 1);
		return JSON.parse(line);
	});
}

const assistant = (content: unknown, ...calls: readonly (readonly [string, string, string | null])[]) => ({
	role: "assistant",
	content,
	...(calls.length === 0
		? {}
		: {
				tool_calls: calls.map(([id, name, words]) => ({ type: "function", id, function: { name, arguments: words } })),
			}),
});

const createPrinter = (write: Write) => createStreamJsonPrinter(messageForm, write);

describe("createStreamJsonPrinter", () => {
	it("prints one message for an answer, and plain text as a string", () => {
		expect(play(turnBegins, step(1), text("Hel"), text("lo"), answered, turnEnds)).toEqual([assistant("Hello")]);
	});

	it("prints reasoning and several parts as a list", () => {
		expect(play(step(1), thought("h"), thought("m"), text("so"), turnEnds)).toEqual([
			assistant([
				{ type: "think", think: "hm", encrypted: null },
				{ type: "text", text: "so" },
			]),
		]);
	});

	it("prints results after their calls, as the model sees them", () => {
		const lines = play(
			step(1),
			text("I look."),
			callBegins("c1", "Shell", '{"comm'),
			argumentsGoOn('and":"ls"}'),
			callCompleted("c1", "Shell", '{"command":"ls"}'),
			callBegins("c2", "Nope", null),
			callCompleted("c2", "Nope", null),
			answered,
			result("c2", toolError("Tool `Nope` not found", "Tool `Nope` not found")),
			result("c1", toolSuccess({ output: "a\n", message: "Done." })),
			step(2),
			text("One file."),
			answered,
			turnEnds,
		);
		expect(lines).toEqual([
			assistant("I look.", ["c1", "Shell", '{"command":"ls"}'], ["c2", "Nope", null]),
			{ role: "tool", content: "<system>ERROR: Tool `Nope` not found</system>", tool_call_id: "c2" },
			{
				role: "tool",
				content: [
					{ type: "text", text: "<system>Done.</system>" },
					{ type: "text", text: "a\n" },
				],
				tool_call_id: "c1",
			},
			assistant("One file."),
		]);
	});

	it("prints an answer as soon as it is complete, and a result as soon as it arrives", () => {
		const call = callBegins("c1", "T", null);
		expect(play(step(1), call)).toEqual([]);
		expect(play(step(1), call, answered)).toHaveLength(1);
		expect(play(step(1), call, answered, result("c1", toolSuccess({})))).toHaveLength(2);
	});

	it("holds back a result that arrives while the answer still streams", () => {
		const lines = play(
			step(1),
			callBegins("c1", "T", null),
			text("and"),
			result("c1", toolSuccess({ output: "x" })),
			statusChanged({ mcp_status: null }),
			text(" more"),
			answered,
		);
		expect(lines).toEqual([
			assistant("and more", ["c1", "T", null]),
			{ role: "tool", content: "x", tool_call_id: "c1" },
		]);
	});

	it("discards the answer and the calls of a failed attempt", () => {
		const lines = play(
			step(1),
			text("half"),
			callBegins("c1", "T", null),
			text("!"),
			result("c1", toolSuccess({})),
			retry,
			text("whole"),
			answered,
			turnEnds,
		);
		expect(lines).toEqual([assistant("whole")]);
	});

	it.each([
		["an interruption", interrupted],
		["the next step", step(2)],
		["the end of the turn", turnEnds],
		["the end of a cancelled turn", turnIsCancelled],
	])("prints at %s what was held back", (_name, event) => {
		expect(play(step(1), text("half"), event)).toEqual([assistant("half")]);
	});

	it("prints the answer of a command, which has no step", () => {
		expect(play(turnBegins, text("Plan mode is on."), answered, turnEnds)).toEqual([assistant("Plan mode is on.")]);
	});

	it("prints notifications and plans as messages of the wire", () => {
		expect(play(notification, plan)).toEqual([
			{
				type: "Notification",
				payload: {
					id: "n0123abcd",
					category: "task",
					type: "task.completed",
					source_kind: "background_task",
					source_id: "bash-1",
					title: "Build done",
					body: "exit code 0\nin 3 s",
					severity: "success",
					created_at: 1.5,
					payload: {},
				},
			},
			{ type: "PlanDisplay", payload: { content: "# Plan\n\n1. Do it.\n", file_path: "/plans/a.md" } },
		]);
	});

	it("ignores subagents", () => {
		expect(play(...allSamples.map((body) => ({ of: coder, body })))).toEqual([]);
	});

	it("accepts every event type, and prints a line for each message", () => {
		const call = (name: string) => ({ type: "function", id: "c1", function: { name: "Shell", arguments: name } });
		const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==", id: null } };
		const returned = (...content: readonly unknown[]) => ({ role: "tool", content, tool_call_id: "c1" });
		const said = (words: string) => ({ type: "text", text: words });
		expect(play(...allSamples, turnEnds)).toEqual([
			{
				type: "Notification",
				payload: {
					id: "n0123abcd",
					category: "task",
					type: "task.completed",
					source_kind: "background_task",
					source_id: "bash-1",
					title: "t",
					body: "b",
					severity: "success",
					created_at: 1.5,
					payload: { task_id: "bash-1", exit_code: null },
				},
			},
			{ type: "PlanDisplay", payload: { content: "# plan", file_path: "/plans/a.md" } },
			{
				role: "assistant",
				content: [said("Hel"), { type: "think", think: "Hm", encrypted: null }],
				tool_calls: [call('{"command":"ls"}'), call("{}")],
			},
			returned(said("<system>done</system>"), said("a.txt\n")),
			returned(said("<system>ERROR: m</system>"), said("t"), image),
			returned(said("<system>The tool returned the following, not text.</system>"), image),
		]);
	});

	it("prints no line for other events", () => {
		const shown: readonly EventType[] = [
			"notification.raised",
			"plan.displayed",
			"content.delta",
			"tool-call.started",
			"tool-call.delta",
			"tool.requested",
			"tool.result",
		];
		const others = allSamples.filter(({ type }) => !shown.includes(type));
		expect(new Set(others.map(({ type }) => type)).size).toBe(Object.keys(sampleEvents).length - shown.length);
		expect(play(...others, turnEnds)).toEqual([]);
	});

	it("prints a failure as kimi does: its sentence on its own line, no JSON", () => {
		const { printer, written } = playEvents(createPrinter);
		printer.fail({ message: "a\u2028b\nc", code: "provider-failed", status: "failed", exitCode: 75 });
		expect(written).toEqual(["a b c\n"]);
	});
});
