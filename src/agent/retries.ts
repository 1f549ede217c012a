// Which model failures are worth another attempt, how long to wait, and what clients and callers are told of them.
import { type Clock, sleep } from "../base/clock.ts";
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
		case "login":
		case "defect":
			return null;
	}
}

/** Seconds before attempt `failed + 1`: doubling from 0.3 with up to 0.5 of jitter, 5 at most. */
export function retryDelay(failed: number, random: () => number): number {
	return Math.min(0.3 * 2 ** (failed - 1) + random() * 0.5, 5);
}

export interface RetrySettings {
	readonly limits: { readonly maxAttempts: number };
	readonly clock: Clock;
	/** Uniform in [0, 1). */
	readonly random: () => number;
}

/** Another attempt that is about to be waited for. */
export interface ComingRetry {
	/** The number of the attempt; the first of all is 1. */
	readonly attempt: number;
	/** Seconds. */
	readonly wait: number;
	readonly errorType: string;
	readonly statusCode: number | null;
}

type Attempted = { readonly kind: "failed"; readonly failure: ModelFailure } | { readonly kind: string };

/** Tries until an attempt does not fail, fails for good, or was the last. `announce` is told before each wait. */
export async function withRetries<T extends Attempted>(
	attempt: () => Promise<T>,
	{ limits, clock, random }: RetrySettings,
	announce: (retry: ComingRetry) => Promise<void> | undefined,
	signal: AbortSignal,
): Promise<T | { readonly kind: "cancelled" }> {
	for (let count = 1; ; count += 1) {
		const outcome = await attempt();
		if (!("failure" in outcome)) return outcome;
		const { failure } = outcome;
		const errorType = retryableErrorType(failure);
		if (errorType === null || count >= limits.maxAttempts) return outcome;
		const wait = retryDelay(count, random);
		await announce({ attempt: count + 1, wait, errorType, statusCode: failure.statusCode });
		await sleep(clock, wait * 1000, signal);
		if (signal.aborted) return { kind: "cancelled" };
	}
}

export function toTurnError(failure: ModelFailure): TurnError {
	if (failure.kind === "defect") {
		return { code: "internal", message: "Internal error; the log has the details.", data: null };
	}
	if (failure.kind === "login") return { code: "login-expired", message: failure.message, data: null };
	const error = { code: "provider-failed", message: failure.message, data: null } as const;
	return retryableErrorType(failure) === null ? error : { ...error, retryable: true };
}

export const emptyAnswer: ModelFailure = {
	kind: "empty",
	message: "The model sent an empty answer.",
	statusCode: null,
};
