// Which model failures are worth another attempt, how long to wait, and what clients and callers are told of them.
import type { TurnError } from "../events/event.ts";
import type { ModelFailure } from "../models/model.ts";

const retryableStatus: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** The name of the failure in `StepRetry` (agent-kernel §5.5), or null when another attempt makes no sense. */
export function retryableErrorType(failure: ModelFailure): string | null {
	switch (failure.kind) {
		case "connection":
			return "APIConnectionError";
		case "timeout":
			return "APITimeoutError";
		case "empty":
			return "APIEmptyResponseError";
		case "status":
			return retryableStatus.has(failure.statusCode ?? 0) ? "APIStatusError" : null;
		case "provider":
		case "defect":
			return null;
	}
}

/** Seconds before attempt `failed + 1`: doubling from 0.3 with up to 0.5 of jitter, 5 at most. */
export function retryDelay(failed: number, random: () => number): number {
	return Math.min(0.3 * 2 ** (failed - 1) + random() * 0.5, 5);
}

export function toTurnError(failure: ModelFailure): TurnError {
	return failure.kind === "defect"
		? { code: "internal", message: "Internal error; the log has the details.", data: null }
		: { code: "provider-failed", message: failure.message, data: null };
}

export const emptyAnswer: ModelFailure = {
	kind: "empty",
	message: "The model sent an empty answer.",
	statusCode: null,
};
