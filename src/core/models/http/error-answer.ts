import { isRecord } from "../../../base/json.ts";
import { cut, oneLine } from "../../../base/text/sentence.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import { createFailure, type ModelFailure } from "../model.ts";
import { withAddressNote } from "./address-note.ts";
import { reportsOverflow, reportsRate } from "./context-overflow.ts";
import { readErrorDetails } from "./error-details.ts";
import type { PlainAnswer } from "./plain-answer.ts";

const messageLimit = 2000;
/** Maximum body characters to show if no message is found. */
const bodyLimit = 500;

export interface ErrorRules {
	/** Codes for insufficient credit, which make a retry useless at any status. */
	readonly creditMarks: ReadonlySet<string>;
	/** Codes of quotas longer than a day; a retry is also useless. */
	readonly longQuota?: RegExp;
	/** Codes of a refused key, if the status does not say so. */
	readonly keyMarks?: ReadonlySet<string>;
	/** The status that corresponds to an error inside a stream. */
	readonly statusOfMark: ReadonlyMap<string, number>;
}

export interface ErrorReader {
	/** A response that is not an event stream: an error status, or an error body with status 200. */
	answer(answer: PlainAnswer): ModelFailure;
	/** An error object in an event of a stream that began normally. */
	event(value: unknown): ModelFailure;
}

interface ProviderError {
	readonly message: string | null;
	readonly marks: readonly string[];
	readonly numericCode: number | null;
	readonly retryAfter: number | null;
}

const wordless: ProviderError = { message: null, marks: [], numericCode: null, retryAfter: null };

export function createErrorReader(rules: ErrorRules): ErrorReader {
	const toFailure = (
		error: ProviderError,
		answered: number | null,
		fallback: string,
		asked: number | null = null,
	): ModelFailure => {
		const { marks } = error;
		const message = beginning(error.message ?? fallback, messageLimit);
		const isSpent = marks.some((mark) => rules.creditMarks.has(mark) || rules.longQuota?.test(mark) === true);
		const status = answered ?? error.numericCode ?? statusOf(marks, rules);
		if (isSpent) return createFailure("provider", message, status);
		if (marks.some((mark) => rules.keyMarks?.has(mark) === true)) return createFailure("status", message, 401);
		if (isOverflow(error, status)) return createFailure("overflow", message, status);
		if (status === null) return createFailure("provider", message);
		return createFailure("status", message, status, asked ?? error.retryAfter);
	};
	const readAnswer = (answer: PlainAnswer): ModelFailure => {
		const json = parseJson(answer.body);
		const error = readErrorBody(json);
		const body = json === undefined ? "" : `: ${cut(oneLine(answer.body.trim()), bodyLimit)}`;
		if (answer.status >= 200 && answer.status < 300) {
			if (error !== null) return toFailure(error, null, `The provider sent an error without a message${body}`);
			const what =
				json === undefined
					? `${answer.contentType} instead of an event stream.`
					: `JSON instead of an event stream${body}`;
			return createFailure("provider", `The provider answered with ${what}`);
		}
		const isPlainText = json === undefined && /^text\/plain\b/i.test(answer.contentType) && answer.body.trim() !== "";
		const found = error ?? { ...wordless, message: isPlainText ? answer.body.trim() : null };
		return toFailure(
			found,
			answer.status,
			`HTTP ${answer.status} ${answer.statusText}`.trim() + body,
			answer.retryAfter,
		);
	};
	return {
		answer: (answer) => withAddressNote(readAnswer(answer), answer),
		event: (value) => toFailure(readError(value), null, "The provider ended the answer with an error."),
	};
}

/** These concern the account, model or address. Servers report a full context with any other status. */
const otherStatuses: ReadonlySet<number | null> = new Set([401, 402, 403, 404, 405, 407]);

function isOverflow({ marks, message }: ProviderError, status: number | null): boolean {
	if (otherStatuses.has(status)) return false;
	return reportsOverflow(message ?? "", marks) || (status === 413 && !reportsRate(message ?? ""));
}

function statusOf(marks: readonly string[], { statusOfMark }: ErrorRules): number | null {
	return marks.map((mark) => statusOfMark.get(mark)).find((status) => status !== undefined) ?? null;
}

function parseJson(body: string): unknown {
	try {
		return JSON.parse(body);
	} catch {
		return undefined;
	}
}

function readErrorBody(parsed: unknown): ProviderError | null {
	// On its stream routes Google wraps the object in a one-element list.
	const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
	if (!isRecord(value)) return null;
	if (value["error"] !== undefined && value["error"] !== null) return readError(value["error"]);
	const error = readError(value);
	return error.message === null ? null : error;
}

function readError(value: unknown): ProviderError {
	if (typeof value === "string") return { ...wordless, message: toText(value) };
	if (!isRecord(value)) return wordless;
	const { code, type, status, details } = value;
	const finer = isRecord(details) ? details["error_code"] : null;
	const { marks, retryAfter } = readErrorDetails(details);
	return {
		message: toText(value["message"]) ?? toText(value["detail"]),
		marks: [finer, ...marks, code, type, status].filter((mark) => typeof mark === "string"),
		numericCode: toStatus(code) ?? toStatus(status),
		retryAfter,
	};
}

/** A code that is an HTTP status, which some servers write as text. */
function toStatus(code: unknown): number | null {
	const number = typeof code === "string" && /^[45]\d\d$/.test(code) ? Number(code) : code;
	return typeof number === "number" && number >= 400 && number <= 599 ? number : null;
}

function toText(value: unknown): string | null {
	return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
