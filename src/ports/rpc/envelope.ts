// Parses and formats JSON-RPC 2.0 envelopes under the rules of a dialect, which are data.
import { isRecord, toJsonLine, toJsonText } from "../../base/json.ts";
import { type LineText, toLineText, wholeText } from "../../base/text/long-text.ts";
import { exactId } from "./exact-id.ts";

/** Integers that a number cannot hold are bigints. */
export type RpcId = string | number | bigint;

export interface ErrorObject {
	readonly code: number;
	readonly message: string;
	/** JSON; null for none. */
	readonly data?: unknown;
}

/**
 * Why params are invalid: they are missing, or `reason` says what is wrong with them, in which the wrong value may be
 * quoted. `place` and `expected` say it without the value; null where that is not known.
 */
export type ParamsProblem =
	| { readonly kind: "missing" }
	| {
			readonly kind: "unfit";
			readonly reason: string;
			readonly place: string | null;
			readonly expected: string | null;
	  };

/** A dialect's rules for envelopes. A reply of null means silence. */
export interface EnvelopeRules {
	isId(value: unknown): value is RpcId;
	/** Whether ids are read exactly: 64-bit integers are valid ids then. */
	readonly exactIds?: boolean;
	/** Whether an invalid object is answered under its id, if it has one, instead of with id null or silence. */
	readonly refusalsNameId?: boolean;
	/** Whether a method with `"id":null` is an invalid request instead of a notification: its sender awaits an answer. */
	readonly nullIdRefused?: boolean;
	/** Whether `"jsonrpc":"2.0"` may be left out. */
	readonly versionOptional: boolean;
	/** Whether what is sent leaves it out; absent for false. */
	readonly versionUnsent?: boolean;
	/** Whether keys outside JSON-RPC make an object invalid. */
	readonly unknownKeysRefused: boolean;
	/** Whether what lines say must not be logged: they may have keys in them. */
	readonly linesAreSecret?: boolean;
	/** Whether a blank line is ignored instead of being a parse error. */
	readonly blankLinesIgnored: boolean;
	/** Whether error objects always carry `data`, null included. */
	readonly errorDataAlways: boolean;
	readonly parseError: ErrorObject | null;
	readonly invalidRequest: ErrorObject | null;
	readonly invalidResponse: ErrorObject | null;
	unknownMethod(method: string): ErrorObject;
	invalidParams(method: string, problem: ParamsProblem): ErrorObject;
	/** The answer to a request beyond the limit of requests in flight. */
	tooManyRequests(limit: number): ErrorObject;
	/** The answer to whatever a handler threw. */
	toErrorObject(thrown: unknown): ErrorObject;
}

/** A peer's reply to a request of ours. */
export type RpcReply =
	| { readonly kind: "result"; readonly result: unknown }
	| { readonly kind: "error"; readonly error: ErrorObject };

export type Incoming =
	| { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: unknown }
	| { readonly kind: "notification"; readonly method: string; readonly params: unknown }
	| { readonly kind: "response"; readonly id: RpcId; readonly reply: RpcReply }
	/** Nothing to act on: answered with `error`, with id null where it has none, or ignored. It may name a request of ours. */
	| { readonly kind: "refused"; readonly error: ErrorObject | null; readonly id?: RpcId };

const envelopeKeys: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);
const silence: Incoming = { kind: "refused", error: null };

const byteOrderMark = 0xfeff;

/** Unicode white space, information separators included. A byte order mark is not white space: it fails to parse. */
function isSpace(code: number): boolean {
	if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
	return code === 0x85 || (code >= 0xa0 && code !== byteOrderMark && /\s/.test(String.fromCharCode(code)));
}

export function trimLine(text: string): string {
	let start = 0;
	let end = text.length;
	while (start < end && isSpace(text.charCodeAt(start))) start += 1;
	while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
	return text.slice(start, end);
}

/** The last character of a JSON text that begins with this one. */
const closing: Readonly<Record<string, string>> = { "{": "}", "[": "]", '"': '"' };

/** Whether a trimmed text is no JSON for sure. A failure of the parser takes far longer than a look at both ends. */
function cannotBeJson(text: string): boolean {
	const end = closing[text.charAt(0)];
	return end === undefined ? !/^[-\dtfn]/.test(text) : !text.endsWith(end);
}

/** Parses a trimmed line as JSON; `undefined` (never a JSON value) stands for a failure. */
export function parseJsonLine(text: string): unknown {
	if (cannotBeJson(text)) return undefined;
	const { stackTraceLimit } = Error;
	// Nobody sees the error: a stack takes longer than the parsing of a short line.
	Error.stackTraceLimit = 0;
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	} finally {
		Error.stackTraceLimit = stackTraceLimit;
	}
}

/**
 * Applies the decision procedure of wire-protocol §1.3, steps 2 to 4, to a parsed line. `text` is the line, for ids
 * that are read exactly.
 */
export function readEnvelope(parsed: unknown, rules: EnvelopeRules, text = ""): Incoming {
	if (parsed === undefined) return { kind: "refused", error: rules.parseError };
	const value = rules.exactIds === true && text !== "" ? withExactId(parsed, text) : parsed;
	if (!isRecord(value)) return { kind: "refused", error: rules.invalidRequest };
	if (!hasValidVersion(value, rules) || !hasValidMembers(value, rules)) return refuse(value, rules);
	const { method, id, params } = value;
	if (typeof method === "string") {
		if (id === null && rules.nullIdRefused === true) return refuse(value, rules);
		return rules.isId(id) ? { kind: "request", id, method, params } : { kind: "notification", method, params };
	}
	if (rules.refusalsNameId === true && !("result" in value || "error" in value)) return refuse(value, rules);
	if (!rules.isId(id)) return silence;
	if ("result" in value) return { kind: "response", id, reply: { kind: "result", result: value["result"] } };
	const error = toErrorObject(value["error"]);
	if (error !== null) return { kind: "response", id, reply: { kind: "error", error } };
	return { kind: "refused", error: rules.invalidResponse, ...(rules.refusalsNameId === true ? { id } : {}) };
}

/** An id that is not a 64-bit integer becomes one that no dialect accepts. */
function withExactId(value: unknown, text: string): unknown {
	return isRecord(value) && typeof value["id"] === "number" ? { ...value, id: exactId(text) ?? false } : value;
}

function refuse(value: Record<string, unknown>, rules: EnvelopeRules): Incoming {
	const { id, method } = value;
	if (rules.refusalsNameId !== true) return { kind: "refused", error: rules.invalidRequest };
	// A notification is never answered, whatever is wrong with it.
	const hasNoId = id === undefined || (id === null && rules.nullIdRefused !== true);
	const isNotification = typeof method === "string" && hasNoId && "jsonrpc" in value;
	if (isNotification) return silence;
	return { kind: "refused", error: rules.invalidRequest, ...(rules.isId(id) ? { id } : {}) };
}

function hasValidVersion(value: Record<string, unknown>, rules: EnvelopeRules): boolean {
	return value["jsonrpc"] === "2.0" || (rules.versionOptional && !("jsonrpc" in value));
}

function hasValidMembers(value: Record<string, unknown>, rules: EnvelopeRules): boolean {
	const { method, id, error } = value;
	if (method !== undefined && method !== null && typeof method !== "string") return false;
	if (id !== undefined && id !== null && !rules.isId(id)) return false;
	if (error !== undefined && error !== null && toErrorObject(error) === null) return false;
	return !rules.unknownKeysRefused || Object.keys(value).every((key) => envelopeKeys.has(key));
}

/** Parses an error object; a numeric string is accepted as code, as in the reference. Null when it is invalid. */
function toErrorObject(value: unknown): ErrorObject | null {
	if (!isRecord(value) || typeof value["message"] !== "string") return null;
	const code =
		typeof value["code"] === "string" && /^-?\d+$/.test(value["code"]) ? Number(value["code"]) : value["code"];
	if (typeof code !== "number" || !Number.isInteger(code)) return null;
	return { code, message: value["message"], data: value["data"] ?? null };
}

export function withoutData({ code, message }: ErrorObject): ErrorObject {
	return { code, message };
}

export function notificationLine(method: string, params: unknown): LineText {
	return toLineText({ jsonrpc: "2.0", method, params });
}

/** Stand for the texts in the line of which a frame is made: no other part of a line is like them. */
const placeholder = "\u001f text \u001f";
const otherPlaceholder = "\u001f other text \u001f";

/**
 * Serializes notifications that differ in one text, each to what `notificationLine` makes of `toParams(text)`. The text has
 * at most a million characters.
 */
export function createTextFrame(method: string, toParams: (text: string) => unknown): (text: string) => string {
	const [before = "", after = ""] = wholeText(notificationLine(method, toParams(placeholder))).split(
		toJsonLine(placeholder),
	);
	return (text) => `${before}${toJsonText(text)}${after}`;
}

/** The same for notifications that differ in two texts, of which `toParams` puts the first before the second. */
export function createPairFrame(
	method: string,
	toParams: (first: string, second: string) => unknown,
): (first: string, second: string) => string {
	const line = wholeText(notificationLine(method, toParams(placeholder, otherPlaceholder)));
	const [before = "", rest = ""] = line.split(toJsonLine(placeholder));
	const [between = "", after = ""] = rest.split(toJsonLine(otherPlaceholder));
	return (first, second) => `${before}${toJsonText(first)}${between}${toJsonText(second)}${after}`;
}

const versionMember = '{"jsonrpc":"2.0",';

/** A line for a peer that expects no version in it. */
export function withoutVersion(line: LineText): LineText {
	const text = wholeText(line);
	return text.startsWith(versionMember) ? `{${text.slice(versionMember.length)}` : text;
}

export function requestLine(id: RpcId, method: string, params: unknown): LineText {
	return typeof id === "bigint"
		? `{"jsonrpc":"2.0","id":${id},${wholeText(toLineText({ method, params })).slice(1)}`
		: toLineText({ jsonrpc: "2.0", method, id, params });
}

export function resultLine(id: RpcId, result: unknown): LineText {
	return answerLine(id, { result });
}

export function errorLine(id: RpcId | null, { code, message, data }: ErrorObject, rules: EnvelopeRules): LineText {
	const error =
		rules.errorDataAlways || (data !== undefined && data !== null)
			? { code, message, data: data ?? null }
			: { code, message };
	return answerLine(id, { error });
}

function answerLine(id: RpcId | null, answer: object): LineText {
	// JSON.stringify does not accept bigints.
	return typeof id === "bigint"
		? `{"jsonrpc":"2.0","id":${id},${wholeText(toLineText(answer)).slice(1)}`
		: toLineText({ jsonrpc: "2.0", id, ...answer });
}
