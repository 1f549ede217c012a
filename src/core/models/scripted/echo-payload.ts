import { isRecord } from "../../../base/json.ts";
import { createFailure, type ModelFailure } from "../model.ts";

/** Thrown for an invalid script or a scripted failure; `failure` ends the request. */
export class EchoScriptError extends Error {
	override readonly name = "EchoScriptError";
	readonly failure: ModelFailure;

	constructor(
		kind: ModelFailure["kind"],
		message: string,
		statusCode: number | null = null,
		more: Pick<ModelFailure, "isRefused" | "isTransient"> = {},
	) {
		super(message);
		this.failure = { ...createFailure(kind, message, statusCode), ...more };
	}
}

export interface LinePosition {
	readonly kind: string;
	/** The physical line, counted from 1. */
	readonly line: number;
}

export function payloadFault(position: LinePosition, problem: string): EchoScriptError {
	return new EchoScriptError("provider", `Invalid echo ${position.kind} at line ${position.line}: ${problem}`);
}

/** Removes one pair of matching quotes. Unescapes nothing. */
export function stripQuotes(text: string): string {
	const first = text.charAt(0);
	if (text.length < 2 || (first !== '"' && first !== "'") || !text.endsWith(first)) return text;
	return text.slice(1, -1);
}

/** Parsed JSON; null for an empty text, `null` and `none`; else the text without quotes. */
export function toValue(payload: string): unknown {
	const text = payload.trim();
	const word = text.toLowerCase();
	if (word === "" || word === "null" || word === "none") return null;
	const decoded = decodeJson(text);
	return decoded === undefined ? stripQuotes(text) : decoded;
}

/** A JSON object, or `key=value` tokens separated by spaces or commas. Throws EchoScriptError for anything else. */
export function parseMapping(payload: string, position: LinePosition): Record<string, unknown> {
	const decoded = decodeJson(payload);
	if (decoded !== undefined && !isRecord(decoded)) throw payloadFault(position, "the payload must be an object");
	const mapping = decoded ?? parseTokens(payload, position);
	if (Object.keys(mapping).length === 0) throw payloadFault(position, "the payload is empty");
	return mapping;
}

function parseTokens(payload: string, position: LinePosition): Record<string, unknown> {
	const tokens = payload.split(/[\s,]+/).filter((token) => token !== "");
	return Object.fromEntries(
		tokens.map((token) => {
			const equals = token.indexOf("=");
			if (equals < 1) throw payloadFault(position, `expected key=value, found ${toPythonLiteral(token)}`);
			return [token.slice(0, equals), toValue(token.slice(equals + 1))];
		}),
	);
}

function decodeJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const unprintable = /[\p{C}\p{Z}]/u;
const namedEscapes: ReadonlyMap<string, string> = new Map([
	["\\", "\\\\"],
	["\n", "\\n"],
	["\r", "\\r"],
	["\t", "\\t"],
]);

/** Formats the text like Python's `repr`; clients recognize the messages that quote a line this way. */
export function toPythonLiteral(text: string): string {
	const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
	let literal = quote;
	for (const character of text) {
		const escaped = character === quote ? `\\${quote}` : namedEscapes.get(character);
		if (escaped !== undefined) literal += escaped;
		else if (character !== " " && unprintable.test(character)) literal += numericEscape(character);
		else literal += character;
	}
	return literal + quote;
}

function numericEscape(character: string): string {
	const digits = (character.codePointAt(0) ?? 0).toString(16);
	if (digits.length <= 2) return `\\x${digits.padStart(2, "0")}`;
	return digits.length <= 4 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
