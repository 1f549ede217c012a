import { isRecord, toJsonLine, toJsonText } from "../../base/json.ts";
import { type LineText, toLineText, wholeText } from "../../base/text/long-text.ts";
import { exactId } from "./exact-id.ts";

/** Integers beyond number precision are bigints. */
export type RpcId = string | number | bigint;

export interface ErrorObject {
	readonly code: number;
	readonly message: string;
	readonly data?: unknown;
}

/** `reason` may quote the value; `place` and `expected` do not. Null when unknown. */
export type ParamsProblem =
	| { readonly kind: "missing" }
	| {
			readonly kind: "unfit";
			readonly reason: string;
			readonly place: string | null;
			readonly expected: string | null;
	  };

/** Envelope rules of a dialect. A null reply means no reply. */
export interface EnvelopeRules {
	isId(value: unknown): value is RpcId;
	/** Whether ids are read exactly, which permits 64-bit integers. */
	readonly exactIds?: boolean;
	/** Whether an invalid object is answered under its id, if any, instead of with id null or not at all. */
	readonly refusalsNameId?: boolean;
	/** Whether a method with `"id":null` is an invalid request instead of a notification: its sender awaits an answer. */
	readonly nullIdRefused?: boolean;
	/** Whether `"jsonrpc":"2.0"` is optional. */
	readonly versionOptional: boolean;
	/** Whether outgoing messages omit it. Default: false. */
	readonly versionUnsent?: boolean;
	readonly unknownKeysRefused: boolean;
	/** Whether line contents must not be logged, because they may contain keys. */
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
	tooManyRequests(limit: number): ErrorObject;
	toErrorObject(thrown: unknown): ErrorObject;
}

export type RpcReply =
	| { readonly kind: "result"; readonly result: unknown }
	| { readonly kind: "error"; readonly error: ErrorObject };

export type Incoming =
	| { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: unknown }
	| { readonly kind: "notification"; readonly method: string; readonly params: unknown }
	| { readonly kind: "response"; readonly id: RpcId; readonly reply: RpcReply }
	/** Unusable: answered with `error`, with id null if it has none, or ignored. It may name our request. */
	| { readonly kind: "refused"; readonly error: ErrorObject | null; readonly id?: RpcId };

const envelopeKeys: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);
const silence: Incoming = { kind: "refused", error: null };

const byteOrderMark = 0xfeff;

/** Unicode white space and information separators. A byte order mark is not white space and fails to parse. */
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

const closing: Readonly<Record<string, string>> = { "{": "}", "[": "]", '"': '"' };

/** Whether a trimmed text is certainly not JSON. A parser failure takes far longer than checking both ends. */
function cannotBeJson(text: string): boolean {
	const end = closing[text.charAt(0)];
	return end === undefined ? !/^[-\dtfn]/.test(text) : !text.endsWith(end);
}

/** Parses a trimmed line as JSON; `undefined` (never a JSON value) means failure. */
export function parseJsonLine(text: string): unknown {
	if (cannotBeJson(text)) return undefined;
	const { stackTraceLimit } = Error;
	// The error is discarded, and capturing its stack takes longer than parsing a short line.
	Error.stackTraceLimit = 0;
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	} finally {
		Error.stackTraceLimit = stackTraceLimit;
	}
}

/** Applies steps 2 to 4 of wire-protocol §1.3 to a parsed line. `text` is the line, for exact ids. */
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

function withExactId(value: unknown, text: string): unknown {
	return isRecord(value) && typeof value["id"] === "number" ? { ...value, id: exactId(text) ?? false } : value;
}

function refuse(value: Record<string, unknown>, rules: EnvelopeRules): Incoming {
	const { id, method } = value;
	if (rules.refusalsNameId !== true) return { kind: "refused", error: rules.invalidRequest };
	// A notification is never answered, even if invalid.
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

/** Parses an error object. Like the reference, accepts a numeric string as code. Null when invalid. */
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

/** Placeholder for the text in a frame's line, which contains nothing similar. */
const placeholder = "\u001f text \u001f";
const otherPlaceholder = "\u001f other text \u001f";

/** Serializes notifications that differ in one text (at most a million characters). */
export function createTextFrame(method: string, toParams: (text: string) => unknown): (text: string) => string {
	const [before = "", after = ""] = wholeText(notificationLine(method, toParams(placeholder))).split(
		toJsonLine(placeholder),
	);
	return (text) => `${before}${toJsonText(text)}${after}`;
}

/** The same for notifications that differ in two texts; `toParams` places the first before the second. */
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
