import { describe, expect, it } from "vitest";
import { createFailure, createRefusal } from "../model.ts";
import { readEnd } from "./answer-end.ts";

const end = (reason: string, isEmpty = false, explanation: string | null = null) =>
	readEnd({ reason, explanation }, isEmpty);

describe("the end of an answer", () => {
	it.each(["length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_length", "incomplete"])(
		"is a cut off answer: %s",
		(reason) => {
			expect(end(reason)).toEqual({ kind: "truncated", reason });
			const message = "The model used up all tokens of its answer before it said anything.";
			expect(end(reason, true)).toEqual(createFailure("provider", message));
		},
	);

	it("is a full window", () => {
		const reason = "model_context_window_exceeded";
		expect(end(reason)).toEqual({ kind: "truncated", reason });
		expect(end(reason, true)).toMatchObject({ kind: "overflow" });
	});

	it("is a pause", () => expect(end("pause_turn")).toEqual({ kind: "paused", reason: "pause_turn" }));

	it.each(["content_filter", "refusal", "sensitive", "SAFETY", "RECITATION", "SPII", "PROHIBITED_CONTENT"])(
		"is a refusal, with or without text: %s",
		(reason) => {
			for (const isEmpty of [true, false]) {
				expect(end(reason, isEmpty)).toEqual(createRefusal(`The provider refused to answer (${reason}).`));
				const explained = createRefusal(`The provider refused to answer (${reason}: Not that.).`);
				expect(end(reason, isEmpty, "Not that.")).toEqual(explained);
			}
		},
	);

	it.each([
		"error",
		"network_error",
		"insufficient_system_resource",
		"MALFORMED_FUNCTION_CALL",
		"UNEXPECTED_TOOL_CALL",
		"function_call_filter: UNEXPECTED_TOOL_CALL",
	])("is a failure that is worth a retry: %s", (reason) => {
		const message = expect.stringContaining(`(${reason})`);
		for (const isEmpty of [true, false]) {
			expect(end(reason, isEmpty)).toMatchObject({ kind: "provider", isTransient: true, message });
		}
	});

	it.each(["stop", "end_turn", "tool_use", "tool_calls", "stop_sequence", "STOP", "novelty"])(
		"is the model's own: %s",
		(reason) => expect(end(reason)).toBeNull(),
	);
});
