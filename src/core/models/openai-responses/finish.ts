// The end of a response: why it ended and the reported usage.
import { isRecord } from "../../../base/json.ts";
import type { Fields } from "../ai-sdk/event-json.ts";
import type { FinishPart } from "../ai-sdk/stream.ts";
import { createRefusal, type ModelFailure } from "../model.ts";
import { toCount } from "../token-count.ts";

/** The keys of the last event's `response` that the package reads. */
export function toFinish({ incomplete_details: details, usage }: Fields): Fields {
	const reason = isRecord(details) && typeof details["reason"] === "string" ? details["reason"] : null;
	return {
		incomplete_details: reason === null ? null : { reason },
		usage: isRecord(usage) ? toUsage(usage) : null,
	};
}

function toUsage(usage: Fields): Fields {
	return {
		...toCounts(usage, { input_tokens: 0, output_tokens: 0 }),
		input_tokens_details: toCounts(usage["input_tokens_details"], { cached_tokens: null, cache_write_tokens: null }),
		output_tokens_details: toCounts(usage["output_tokens_details"], { reasoning_tokens: null }),
	};
}

/** The counts that are present; the given ones for the others. */
function toCounts(fields: unknown, missing: Readonly<Record<string, number | null>>): Fields {
	const given = isRecord(fields) ? fields : {};
	return Object.fromEntries(Object.entries(missing).map(([name, absent]) => [name, toCount(given[name]) ?? absent]));
}

/** Why an empty response ended; null when nothing is known. */
export function whyEmpty({ finishReason }: FinishPart): string | ModelFailure | null {
	switch (finishReason.raw) {
		case "max_output_tokens":
			return "The model used up all tokens of its answer before it said anything.";
		case "content_filter":
			return createRefusal("The provider's content filter held the answer back.");
		default:
			return null;
	}
}
