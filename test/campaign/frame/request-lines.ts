// What JSON-RPC 2.0 says about any line for servers that name the id in every refusal they can, and take strings and integers of
// 64 bits for ids: written apart from the server's own code, so that the two can disagree.
import { isRecord } from "../../../src/base/json.ts";
import { readLine } from "./json-cases.ts";

/** What a line is; ids are JSON text, numbers digit for digit. */
export type RequestLine =
	| { readonly kind: "silence" }
	| { readonly kind: "not-json" }
	/** Refused under this id, which may be null. */
	| { readonly kind: "invalid"; readonly id: string }
	| { readonly kind: "notification"; readonly method: string; readonly params: unknown }
	| { readonly kind: "request"; readonly id: string; readonly method: string; readonly params: unknown };

/** `nullId` says what a method with an id of null is: a notification, or a request that cannot be answered under its id. */
export function readRequestLine(bytes: Uint8Array, nullId: "notification" | "refused"): RequestLine {
	const { text, value } = readLine(bytes);
	if (text === "") return { kind: "silence" };
	if (value === undefined) return { kind: "not-json" };
	if (!isRecord(value)) return { kind: "invalid", id: "null" };
	const { method, params } = value;
	const id = idOf(value, text);
	const isRefused = nullId === "refused" && typeof method === "string";
	const hasNoId = value["id"] === undefined || (value["id"] === null && !isRefused);
	const isWhole = value["jsonrpc"] === "2.0" && (id !== null || hasNoId) && fitsError(value["error"]);
	if (typeof method === "string" && hasNoId && "jsonrpc" in value)
		return isWhole ? { kind: "notification", method, params } : { kind: "silence" };
	if (!isWhole) return { kind: "invalid", id: id ?? "null" };
	if (typeof method === "string") return { kind: "request", id: id ?? "null", method, params };
	const isAnswer = ("result" in value || "error" in value) && (method ?? null) === null;
	return isAnswer ? { kind: "silence" } : { kind: "invalid", id: id ?? "null" };
}

/** The id as JSON text; null for what is none: only strings and integers of 64 bits are. */
function idOf(value: Readonly<Record<string, unknown>>, text: string): string | null {
	const { id } = value;
	if (typeof id === "string") return JSON.stringify(id);
	if (typeof id !== "number") return null;
	const digits = readDigits(text);
	if (!/^-?[0-9]+$/.test(digits) || digits === "-0") return null;
	const integer = BigInt(digits);
	return BigInt.asIntN(64, integer) === integer ? digits : null;
}

const numberMark = "number: ";

/** The number at `id` as it is written: the line is read once more with every number in it made a string. */
function readDigits(text: string): string {
	const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
		token.startsWith('"') ? token : JSON.stringify(numberMark + token),
	);
	const value: unknown = JSON.parse(marked);
	return isRecord(value) ? String(value["id"]).slice(numberMark.length) : "";
}

function fitsError(error: unknown): boolean {
	if (error === undefined || error === null) return true;
	if (!isRecord(error) || typeof error["message"] !== "string") return false;
	const { code } = error;
	return typeof code === "string" ? /^-?[0-9]+$/.test(code) : Number.isInteger(code);
}
