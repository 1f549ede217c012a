// The only place that repairs messages, or fails their request: the library would drop them and wait.
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";
import { isNestedWithin, isRecord } from "../../../base/json.ts";
import { cut } from "../../../base/text/sentence.ts";
import type { OpenRequests } from "./open-requests.ts";

type Members = Readonly<Record<string, unknown>>;

const internalError = -32603;
/** Maximum message nesting: the library processes messages recursively. */
export const depthLimit = 200;
/** Maximum characters of a server error that is not an object. */
const errorLength = 500;

export const unreadableAnswer = "its answer is not valid JSON on one line";

export function failureOf(id: RequestId, message: string): JSONRPCMessage {
	return { jsonrpc: "2.0", id, error: { code: internalError, message } };
}

/** Parses JSON with Python's `NaN` and `Infinity`, which become null. Undefined if not JSON. */
export function parseLenient(text: string): unknown {
	const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
	try {
		return JSON.parse(json);
	} catch {
		if (!/\b(?:NaN|Infinity)\b/.test(json)) return undefined;
	}
	try {
		return JSON.parse(json.replace(stringOrConstant, (match) => (match.startsWith('"') ? match : "null")));
	} catch {
		return undefined;
	}
}

// An unterminated string extends to the end of the text, so that matching takes linear time.
const stringOrConstant = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|-?\b(?:NaN|Infinity)\b/g;

/** Null if the value is not meant as a message. An answer gets the id of an open request. */
export function repairMessage(value: unknown, open: OpenRequests): JSONRPCMessage | null {
	if (!isRecord(value)) return null;
	if (typeof value["method"] === "string") return "jsonrpc" in value ? repairCall(value["method"], value) : null;
	const isAnswer = "result" in value || "error" in value;
	const isMessage = "jsonrpc" in value;
	const isKnown = open.has(value["id"]);
	// A program may print other JSON, such as its log.
	if (isMessage ? !(isAnswer || isKnown) : !(isAnswer && (isKnown || open.isExchange))) return null;
	const id = open.answeredBy(value["id"]);
	if (id === null) return null;
	if (!isNestedWithin(value, depthLimit)) return failureOf(id, `its answer nests more than ${depthLimit} levels deep`);
	return repairAnswer(id, value, open);
}

/** The error for the request that the text must have answered; null if it may be something else. */
export function failUnreadable(text: string, open: OpenRequests): JSONRPCMessage | null {
	// Servers also print the requests they receive.
	if (/["']method["']\s*:/.test(text)) return null;
	const named = /["']id["']\s*:\s*["']?(\d+)/.exec(text)?.[1];
	const isNamed = named !== undefined && open.has(named);
	const hasVersion = /["']jsonrpc["']\s*:/.test(text);
	if (!hasVersion && !(isNamed && /["'](?:result|error)["']\s*:/.test(text))) return null;
	const id = isNamed ? Number(named) : open.sole();
	return id === null ? null : failureOf(id, unreadableAnswer);
}

function repairCall(method: string, { id, params }: Members): JSONRPCMessage {
	const call = { jsonrpc: "2.0" as const, method, ...(isRecord(params) ? { params: withoutBadMeta(params) } : {}) };
	return typeof id === "string" || Number.isInteger(id) ? { ...call, id: id as string | number } : call;
}

function repairAnswer(id: RequestId, message: Members, open: OpenRequests): JSONRPCMessage {
	if (!open.has(message["id"]) && (message["id"] ?? null) !== null) {
		return failureOf(id, `it answered with the id ${cut(JSON.stringify(message["id"]), 40)} instead of ${id}`);
	}
	const { result, error = null } = message;
	if (error !== null) return { jsonrpc: "2.0", id, error: repairError(error) };
	if (!("result" in message)) return failureOf(id, "its answer has neither a result nor an error");
	if (!isRecord(result)) return failureOf(id, "the result in its answer is not an object");
	return { jsonrpc: "2.0", id, result: repairResult(withoutBadMeta(result), open.methodOf(id)) };
}

function repairError(error: unknown): { code: number; message: string; data?: unknown } {
	if (!isRecord(error)) {
		return {
			code: internalError,
			message: cut(typeof error === "string" ? error : JSON.stringify(error), errorLength),
		};
	}
	const code = Number(error["code"] ?? internalError);
	const { message, data } = error;
	return {
		code: Number.isInteger(code) ? code : internalError,
		message: typeof message === "string" ? message : cut(JSON.stringify(message ?? error), errorLength),
		...(data === undefined ? {} : { data }),
	};
}

function withoutBadMeta(value: Members): Record<string, unknown> {
	const { _meta, ...rest } = value;
	return isRecord(_meta) ? { ...value } : rest;
}

/** Adapts a result to the library's schemas: optional members are absent, not null. */
function repairResult(result: Members, method: string | null): Record<string, unknown> {
	const given = withoutNulls(result);
	switch (method) {
		case "initialize":
			return { ...repairIntroduction(given), capabilities: repairCapabilities(given["capabilities"]) };
		case "server/discover":
			return { ...given, capabilities: repairCapabilities(given["capabilities"]) };
		case "tools/list":
			return { ...given, ...repairTools(result["tools"]) };
		case "tools/call":
			return { ...given, ...repairContent(given["content"]) };
		default:
			return { ...result };
	}
}

function repairIntroduction(given: Members): Record<string, unknown> {
	const { instructions, serverInfo, ...rest } = given;
	const info = isRecord(serverInfo) ? withoutNulls(serverInfo) : {};
	const asText = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");
	return {
		...rest,
		...(typeof instructions === "string" ? { instructions } : {}),
		serverInfo: { name: asText(info["name"]), version: asText(info["version"]) },
	};
}

/** A capability is an object: `true` counts as an empty one, and other values as absent. */
function repairCapabilities(capabilities: unknown): Record<string, unknown> {
	if (!isRecord(capabilities)) return {};
	const repaired: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(capabilities)) {
		if (isRecord(value)) repaired[name] = withoutNulls(value);
		else if (value === true || Array.isArray(value)) repaired[name] = {};
	}
	return repaired;
}

function repairTools(tools: unknown): Record<string, unknown> {
	if (tools === null) return { tools: [] };
	return Array.isArray(tools) ? { tools: tools.map(withoutNullsIn) } : {};
}

/** Results of other protocol versions have no content. */
function repairContent(content: unknown): Record<string, unknown> {
	if (content === undefined) return {};
	if (typeof content === "string") return { content: [{ type: "text", text: content }] };
	return { content: (Array.isArray(content) ? content : [content]).map(withoutNullsIn) };
}

function withoutNullsIn(value: unknown): unknown {
	return isRecord(value) ? withoutNulls(value) : value;
}

function withoutNulls(value: Members): Record<string, unknown> {
	return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
