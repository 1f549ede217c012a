import type { TurnError } from "../../api/values/event.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { cut, oneLine, sentences } from "../../base/text/sentence.ts";
import { createFailure, type ModelFailure } from "../models/model.ts";

/** Request timeout, conflict and too many requests; other 4xx errors are caused by the request. */
const retryableStatuses: ReadonlySet<number> = new Set([408, 409, 429]);
/** Not implemented, and HTTP version not supported: unlike other server errors, these persist. */
const permanentStatuses: ReadonlySet<number> = new Set([501, 505]);

/** Maximum milliseconds a provider can request to wait; longer waits fail the call at once. */
const longestWait = 60_000;

/** The error class in `StepRetry` and `StopFailure` (agent-kernel §5.5, §10.1). */
export function errorClass({ kind, statusCode }: ModelFailure): string {
	switch (kind) {
		case "connection":
			return "APIConnectionError";
		case "timeout":
			return "APITimeoutError";
		case "empty":
			return "APIEmptyResponseError";
		case "status":
		case "overflow":
		case "login":
			return "APIStatusError";
		case "provider":
			return statusCode === null ? "ChatProviderError" : "APIStatusError";
		case "defect":
			return "InternalError";
	}
}

/** The failure class in `StepRetry`; null if not retryable. */
export function retryableErrorType(failure: ModelFailure): string | null {
	return isRetryable(failure) ? errorClass(failure) : null;
}

function isRetryable({ kind, statusCode, isTransient }: ModelFailure): boolean {
	switch (kind) {
		case "connection":
		case "timeout":
		case "empty":
			return true;
		case "status":
			return isRetryableStatus(statusCode ?? 0);
		case "provider":
			return isTransient === true;
		case "overflow":
		case "login":
		case "defect":
			return false;
	}
}

function isRetryableStatus(status: number): boolean {
	return retryableStatuses.has(status) || (status >= 500 && !permanentStatuses.has(status));
}

/** Seconds before attempt `failed + 1`: doubles from 0.5 with up to 0.5 of jitter, at most 60. */
export function retryDelay(failed: number, random: () => number): number {
	return Math.min(0.5 * 2 ** (failed - 1) + random() * 0.5, 60);
}

/** Maximum empty answers in a row: they do not indicate overload, so waiting longer does not help. */
const mostEmptyAnswers = 3;

const reasonLength = 200;

/** Why an attempt failed, on one line for display. */
export function retryReason({ message, statusCode }: ModelFailure): string {
	const text = cut(oneLine(message).trim(), reasonLength);
	return statusCode === null || text.includes(`HTTP ${statusCode}`) ? text : `HTTP ${statusCode}: ${text}`;
}

export interface RetrySettings {
	readonly limits: { readonly maxAttempts: number };
	readonly clock: Clock;
	readonly random: () => number;
	/** Whether the silence limit over all attempts is reached. Default: never. */
	isSpent?(): boolean;
}

export interface ComingRetry {
	/** The number of the attempt, counted from 1. */
	readonly attempt: number;
	readonly wait: number;
	readonly maxAttempts: number;
	readonly errorType: string;
	readonly statusCode: number | null;
	readonly reason: string;
}

interface FailedAttempt {
	readonly kind: "failed";
	readonly failure: ModelFailure;
}

/** Retries until success, a permanent failure, the last attempt, or a requested wait that is too long. */
export async function withRetries<T extends { readonly kind: string }>(
	attempt: () => Promise<T | FailedAttempt>,
	{ limits, clock, random, isSpent = () => false }: RetrySettings,
	announce: (retry: ComingRetry) => Promise<void> | undefined,
	signal: AbortSignal,
): Promise<T | FailedAttempt | { readonly kind: "cancelled" }> {
	for (let count = 1; ; count += 1) {
		const outcome = await attempt();
		if (!("failure" in outcome)) return outcome;
		const { failure } = outcome;
		const errorType = retryableErrorType(failure);
		if (errorType === null) return outcome;
		const asked = failure.retryAfter;
		if (asked !== null && asked > longestWait) return { kind: "failed", failure: withTime(failure, asked, clock) };
		const maxAttempts = failure.kind === "empty" ? Math.min(limits.maxAttempts, mostEmptyAnswers) : limits.maxAttempts;
		if (count >= maxAttempts || isSpent()) return outcome;
		const wait = asked === null ? retryDelay(count, random) : asked / 1000;
		const { statusCode } = failure;
		const reason = retryReason(failure);
		await announce({ attempt: count + 1, maxAttempts, wait, errorType, statusCode, reason });
		await sleep(clock, wait * 1000, signal);
		if (signal.aborted) return { kind: "cancelled" };
	}
}

function withTime(failure: ModelFailure, wait: number, clock: Clock): ModelFailure {
	const latest = 8.64e15;
	const time = new Date(Math.min(clock.now() + wait, latest)).toISOString().replace(/\.\d+Z$/, "Z");
	const seconds = Math.ceil(wait / 1000);
	const duration = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
	const advice = `The provider asks to wait ${duration}: try again after ${time}.`;
	return { ...failure, message: sentences(failure.message, advice) };
}

export function toTurnError(failure: ModelFailure): TurnError {
	if (failure.kind === "defect") {
		return { code: "internal", message: "Internal error; the log has the details.", data: null };
	}
	if (failure.kind === "login") return { code: "login-expired", message: failure.message, data: null };
	const refused = failure.isRefused === true ? { isRefused: true as const } : {};
	const error = { code: "provider-failed", message: failure.message, data: null, ...refused } as const;
	return retryableErrorType(failure) === null ? error : { ...error, retryable: true };
}

export interface StepFailure {
	readonly kind: "failed";
	readonly error: TurnError;
	readonly errorType: string;
}

export function toStepFailure(failure: ModelFailure): StepFailure {
	return { kind: "failed", error: toTurnError(failure), errorType: errorClass(failure) };
}

export function beyondStepBudget(error: TurnError): StepFailure {
	return { kind: "failed", error, errorType: "BudgetExhausted" };
}

export const emptyAnswer = createFailure("empty", "The model sent an empty answer.");
