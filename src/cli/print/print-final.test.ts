import { describe, expect, it } from "vitest";
import {
	callCompleted,
	coder,
	notification,
	type PlayedEvent,
	playEvents,
	retry,
	step,
	text,
	thought,
	turnBegins,
	turnEnds,
	turnIsCancelled,
} from "../../../test/support/protocol/printed-events.ts";
import type { EventBody } from "../../api/values/event.ts";
import { createFinalPrinter } from "./print-final.ts";

const play = (...events: readonly PlayedEvent[]) => ({
	text: playEvents((write) => createFinalPrinter("text", write), ...events).written.join(""),
	json: playEvents((write) => createFinalPrinter("stream-json", write), ...events).written.join(""),
});

describe("createFinalPrinter", () => {
	it("prints the last message and nothing before it", () => {
		const events: PlayedEvent[] = [
			turnBegins,
			step(1),
			text("I look."),
			callCompleted("c1", "T", null),
			notification,
			{ of: coder, body: text("aside") },
			step(2),
			thought("hm"),
			text("Fo"),
			text("und."),
		];
		expect(play(...events)).toEqual({ text: "", json: "" });
		expect(play(...events, turnEnds)).toEqual({
			text: "Found.\n",
			json: '{"role":"assistant","content":"Found."}\n',
		});
	});

	it("adds no newline to a complete line", () => {
		expect(play(turnBegins, step(1), text("a\nb\n"), turnEnds).text).toBe("a\nb\n");
	});

	it("discards the output of a failed attempt", () => {
		expect(play(turnBegins, step(1), text("half"), retry, text("whole"), turnEnds).text).toBe("whole\n");
	});

	it("prints one message for nested turns", () => {
		const innerEnds: EventBody = { type: "turn.ended", outcome: null };
		const events = [turnBegins, turnBegins, step(1), text("a"), innerEnds, turnBegins, step(1), text("b"), innerEnds];
		expect(play(...events, turnEnds).text).toBe("b\n");
	});

	it("prints one message for each turn", () => {
		const turns = play(turnBegins, step(1), text("a"), turnEnds, turnBegins, text("b"), turnEnds);
		expect(turns.text).toBe("a\nb\n");
	});

	it("prints an object for an empty message, but no text", () => {
		expect(play(turnBegins, step(1), text("a"), step(2), callCompleted("c1", "T", null), turnEnds)).toEqual({
			text: "",
			json: '{"role":"assistant","content":""}\n',
		});
	});

	it("prints no message of a turn that did not finish", () => {
		expect(play(turnBegins, step(1), text("half"), turnIsCancelled)).toEqual({ text: "", json: "" });
	});

	it.each([
		["text", "Error: No.\n"],
		["stream-json", "No.\n"],
	] as const)("prints a failure as %s", (format, expected) => {
		const { printer, written } = playEvents((write) => createFinalPrinter(format, write));
		printer.fail({ message: "No.", code: "cancelled", status: "cancelled", exitCode: 1 });
		expect(written).toEqual([expected]);
	});
});
