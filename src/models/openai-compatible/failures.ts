// What an error answer, or an error inside a stream, means: the kind of failure and the provider's own words.
import { isRecord } from "../../base/json.ts";
import type { PlainAnswer } from "../http/event-stream.ts";
import type { ModelFailure } from "../model.ts";

const messageLimit = 2000;

// An empty account answers 429 like a busy server, but asking again is of no use: told by code or type alone.
const moneyMarks: ReadonlySet<string> = new Set([
	"credit_balance_exhausted",
	"organization_spend_limit_exceeded",
	"project_spend_limit_exceeded",
	"organization_usage_limit_exceeded",
	"insufficient_quota",
	"exceeded_current_quota_error",
]);

// Inside a stream there is no status; these types have the one they are sent with before a stream.
const statusOfType: ReadonlyMap<string, number> = new Map([
	["server_error", 500],
	["service_unavailable_error", 503],
	["unavailable_error", 503],
	["engine_overloaded_error", 429],
	["rate_limit_reached_error", 429],
	["rate_limit_error", 429],
	["rate_limit_exceeded", 429],
]);

interface ProviderError {
	readonly message: string | null;
	readonly marks: readonly string[];
	readonly numericCode: number | null;
}

/** An answer that is no event stream: an error status, or an error body sent with status 200. */
export function toAnswerFailure(answer: PlainAnswer): ModelFailure {
	const error = readErrorBody(answer.body);
	const fallback = `HTTP ${answer.status} ${answer.statusText}`.trim();
	if (answer.status >= 200 && answer.status < 300) {
		if (error !== null) return toFailure(error, null, "The provider sent an error without a message.");
		return failure("provider", `The provider answered with ${answer.contentType} instead of an event stream.`);
	}
	const isPlainText = error === null && /^text\/plain\b/i.test(answer.contentType) && answer.body.trim() !== "";
	const found = error ?? { message: isPlainText ? answer.body.trim() : null, marks: [], numericCode: null };
	return toFailure(found, answer.status, fallback);
}

/** An error object found in an event of a stream that had begun well. */
export function toStreamFailure(value: unknown): ModelFailure {
	return toFailure(readError(value), null, "The provider ended the answer with an error.");
}

function toFailure(error: ProviderError, answered: number | null, fallback: string): ModelFailure {
	const message = (error.message ?? fallback).slice(0, messageLimit);
	if (error.marks.some((mark) => moneyMarks.has(mark))) return failure("provider", message);
	const status = answered ?? error.numericCode ?? statusOfMarks(error.marks);
	return status === null ? failure("provider", message) : failure("status", message, status);
}

function failure(kind: ModelFailure["kind"], message: string, statusCode: number | null = null): ModelFailure {
	return { kind, message, statusCode };
}

function statusOfMarks(marks: readonly string[]): number | null {
	return marks.map((mark) => statusOfType.get(mark)).find((status) => status !== undefined) ?? null;
}

function readErrorBody(body: string): ProviderError | null {
	let value: unknown;
	try {
		value = JSON.parse(body);
	} catch {
		return null;
	}
	if (!isRecord(value)) return null;
	if (value["error"] !== undefined && value["error"] !== null) return readError(value["error"]);
	const error = readError(value);
	return error.message === null ? null : error;
}

function readError(value: unknown): ProviderError {
	if (typeof value === "string") return { message: toText(value), marks: [], numericCode: null };
	if (!isRecord(value)) return { message: null, marks: [], numericCode: null };
	const code = value["code"];
	return {
		message: toText(value["message"]) ?? toText(value["detail"]),
		marks: [code, value["type"]].filter((mark) => typeof mark === "string"),
		numericCode: typeof code === "number" && code >= 400 && code <= 599 ? code : null,
	};
}

function toText(value: unknown): string | null {
	return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
