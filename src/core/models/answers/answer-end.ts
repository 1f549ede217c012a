import { type AnswerEnd, createFailure, createRefusal, type ModelFailure } from "../model.ts";

type Meaning = "truncated" | "window" | "paused" | "refused" | "unreadable" | "failed";

const literals: Readonly<Record<Meaning, readonly string[]>> = {
	truncated: [
		"length",
		"max_tokens",
		"max_output_tokens",
		"max_completion_tokens",
		"max_length",
		"model_length",
		"token_limit",
		"error_limit",
		"incomplete",
	],
	window: ["model_context_window_exceeded"],
	paused: ["pause_turn"],
	refused: [
		"content_filter",
		"content_filtered",
		"guardrail_intervened",
		"refusal",
		"sensitive",
		"error_toxic",
		"safety",
		"recitation",
		"language",
		"blocklist",
		"prohibited_content",
		"spii",
		"model_armor",
		"jailbreak",
		"image_safety",
		"image_prohibited_content",
		"image_recitation",
	],
	unreadable: [
		"malformed_function_call",
		"unexpected_tool_call",
		"too_many_tool_calls",
		"missing_thought_signature",
		"malformed_response",
		"malformed_tool_use",
		"malformed_model_output",
	],
	failed: ["error", "network_error", "insufficient_system_resource", "abort", "timeout", "failed", "other"],
};

const meanings: ReadonlyMap<string, Meaning> = new Map(
	Object.entries(literals).flatMap(([meaning, names]) => names.map((name) => [name, meaning as Meaning])),
);

/** Null for a normal end and for an unknown reason. */
function meaningOf(reason: string): Meaning | null {
	const name = reason.trim().toLowerCase();
	// Gateways prefix reasons, as in `function_call_filter: MALFORMED_FUNCTION_CALL`.
	const names = [name, ...name.split(/[:\s]+/).reverse()];
	return names.map((each) => meanings.get(each)).find((meaning) => meaning !== undefined) ?? null;
}

/** The provider's literal, and its explanation if any. */
export interface EndReason {
	readonly reason: string;
	readonly explanation: string | null;
}

/** The meaning of an answer's end; null if the model finished normally. `isEmpty`: no text and no calls. */
export function readEnd({ reason, explanation }: EndReason, isEmpty: boolean): AnswerEnd | ModelFailure | null {
	const words = explanation === null ? reason : `${reason}: ${explanation}`;
	const meaning = meaningOf(reason);
	switch (meaning) {
		case null:
			return null;
		case "truncated":
			return isEmpty
				? createFailure("provider", "The model used up all tokens of its answer before it said anything.")
				: { kind: "truncated", reason };
		case "window":
			return isEmpty
				? createFailure("overflow", "The conversation leaves no room for an answer in the model's context window.")
				: { kind: "truncated", reason };
		case "paused":
			return { kind: "paused", reason };
		case "refused":
			return createRefusal(`The provider refused to answer (${words}).`);
		case "unreadable":
			return transient(`The model made a tool call that cannot be read (${words}).`);
		case "failed":
			return transient(`The provider broke off the answer (${words}).`);
	}
}

export function isCutOff(reason: string | null): boolean {
	const meaning = reason === null ? null : meaningOf(reason);
	return meaning === "truncated" || meaning === "window";
}

function transient(message: string): ModelFailure {
	return { ...createFailure("provider", message), isTransient: true };
}
