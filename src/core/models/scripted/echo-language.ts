import type { TokenUsage } from "../../../api/values/content.ts";
import { isRecord } from "../../../base/json.ts";
import type { AnswerEnd, ModelPart } from "../model.ts";
import {
	EchoScriptError,
	type LinePosition,
	parseMapping,
	payloadFault,
	stripQuotes,
	toPythonLiteral,
	toValue,
} from "./echo-payload.ts";

export interface EchoScript {
	readonly parts: readonly ModelPart[];
	readonly usage: TokenUsage | null;
	readonly messageId: string | null;
	readonly end: AnswerEnd | null;
}

interface Draft {
	readonly parts: ModelPart[];
	usage: TokenUsage | null;
	messageId: string | null;
	end: AnswerEnd | null;
}

type ReadLine = (draft: Draft, payload: string, position: LinePosition) => void;

// The line breaks that Python's str.splitlines recognizes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are line ends there.
const lineEnds = /\r\n|[\n\r\v\f\u001c\u001d\u001e\u0085\u2028\u2029]/;

/** Throws EchoScriptError at the first faulty line or `error` line, and if nothing would be streamed. */
export function parseEchoScript(script: string): EchoScript {
	const draft: Draft = { parts: [], usage: null, messageId: null, end: null };
	let number = 0;
	for (const rawLine of script.split(lineEnds)) {
		number += 1;
		const line = rawLine.trim();
		if (isIgnored(line)) continue;
		const colon = line.indexOf(":");
		if (colon === -1) throw lineFault("Invalid echo DSL", number, rawLine);
		const written = line.slice(0, colon);
		const kind = lineKinds.has(written) ? written : written.trim().toLowerCase();
		const read = lineKinds.get(kind);
		if (read === undefined) {
			throw lineFault(`Unknown echo DSL kind ${toPythonLiteral(kind)}`, number, rawLine);
		}
		const payload = line.slice(line.charAt(colon + 1) === " " ? colon + 2 : colon + 1);
		read(draft, payload, { kind, line: number });
	}
	if (draft.parts.length === 0) {
		throw new EchoScriptError("provider", "ScriptedEchoChatProvider DSL produced no streamable parts.");
	}
	return draft;
}

function isIgnored(line: string): boolean {
	if (line === "" || line.startsWith("#") || line.startsWith("```")) return true;
	return line.length === "echo".length && line.toLowerCase() === "echo";
}

function lineFault(problem: string, line: number, rawLine: string): EchoScriptError {
	return new EchoScriptError("provider", `${problem} at line ${line}: ${toPythonLiteral(rawLine)}`);
}

const lineKinds: ReadonlyMap<string, ReadLine> = new Map<string, ReadLine>([
	[
		"id",
		(draft, payload) => {
			draft.messageId = stripQuotes(payload.trim());
		},
	],
	[
		"usage",
		(draft, payload, position) => {
			draft.usage = parseUsage(parseMapping(payload, position), position);
		},
	],
	["text", (draft, payload) => draft.parts.push({ type: "text", text: stripQuotes(payload) })],
	["think", (draft, payload) => draft.parts.push({ type: "think", think: stripQuotes(payload), encrypted: null })],
	[
		"image_url",
		(draft, payload, position) => draft.parts.push({ type: "image_url", image_url: parseMedia(payload, position) }),
	],
	[
		"audio_url",
		(draft, payload, position) => draft.parts.push({ type: "audio_url", audio_url: parseMedia(payload, position) }),
	],
	[
		"video_url",
		(draft, payload, position) => draft.parts.push({ type: "video_url", video_url: parseMedia(payload, position) }),
	],
	["tool_call", (draft, payload, position) => draft.parts.push(parseToolCall(payload, position))],
	[
		"tool_call_part",
		(draft, payload, position) => {
			draft.parts.push({ type: "tool_call_part", arguments_part: parseFragment(payload, position) });
		},
	],
	[
		"end",
		(draft, payload, position) => {
			draft.end = parseEnd(payload, position);
		},
	],
	[
		"error",
		(_draft, payload, position) => {
			throw simulatedError(payload, position);
		},
	],
]);

function parseUsage(mapping: Record<string, unknown>, position: LinePosition): TokenUsage {
	const count = (field: keyof TokenUsage): number => {
		const value = mapping[field] ?? (Object.hasOwn(mapping, field) ? null : 0);
		const number = typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
		if (typeof number !== "number" || !Number.isFinite(number)) {
			throw payloadFault(position, `${field} must be an integer`);
		}
		// Adding zero turns the -0 of a small negative fraction into 0.
		return Math.trunc(number) + 0;
	};
	return {
		input_other: count("input_other"),
		output: count("output"),
		input_cache_read: count("input_cache_read"),
		input_cache_creation: count("input_cache_creation"),
	};
}

function parseMedia(payload: string, position: LinePosition): { url: string; id: string | null } {
	const value = toValue(payload);
	const { url, id } = isRecord(value) ? { url: value["url"], id: value["id"] ?? null } : { url: value, id: null };
	if (typeof url !== "string") throw payloadFault(position, "the URL must be a string");
	if (id !== null && typeof id !== "string") throw payloadFault(position, "id must be a string");
	return { url, id };
}

function parseToolCall(payload: string, position: LinePosition): ModelPart {
	const mapping = parseMapping(payload, position);
	const inner = isRecord(mapping["function"]) ? mapping["function"] : {};
	const id = mapping["id"];
	const name = inner["name"] ?? mapping["name"];
	const argumentsText = inner["arguments"] ?? mapping["arguments"] ?? null;
	if (typeof id !== "string") throw payloadFault(position, "id must be a string");
	if (typeof name !== "string") throw payloadFault(position, "name must be a string");
	if (argumentsText !== null && typeof argumentsText !== "string") {
		throw payloadFault(position, "arguments must be a string");
	}
	const extras = mapping["extras"] ?? inner["extras"];
	return {
		type: "function",
		id,
		function: { name, arguments: argumentsText },
		extras: isRecord(extras) ? extras : null,
	};
}

function parseFragment(payload: string, position: LinePosition): string | null {
	const value = toValue(payload);
	const piece = isRecord(value) && Object.hasOwn(value, "arguments_part") ? value["arguments_part"] : value;
	if (piece === null || piece === "") return null;
	if (typeof piece === "string") return piece;
	if (typeof piece === "object") return JSON.stringify(piece);
	throw new EchoScriptError(
		"defect",
		`Invalid echo ${position.kind} at line ${position.line}: the payload must not be a ${typeof piece}`,
	);
}

function parseEnd(payload: string, position: LinePosition): AnswerEnd {
	const [kind, reason = ""] = payload.trim().split(/\s+/);
	if (kind === "truncated") return { kind, reason: reason || "max_tokens" };
	if (kind === "paused") return { kind, reason: reason || "pause_turn" };
	throw payloadFault(position, "expected truncated or paused");
}

function simulatedError(payload: string, position: LinePosition): EchoScriptError {
	const [, word = "", message = ""] = /^(\S*)\s*(.*)$/.exec(payload.trim()) ?? [];
	const kind = word.toLowerCase();
	if (kind === "connection") return new EchoScriptError("connection", message || "Simulated connection error");
	if (kind === "timeout") return new EchoScriptError("timeout", message || "Simulated timeout error");
	if (/^\d+$/.test(word)) return new EchoScriptError("status", message || `Simulated ${word} error`, Number(word));
	if (kind === "refused")
		return new EchoScriptError("provider", message || "Simulated refusal", null, { isRefused: true });
	if (kind === "transient")
		return new EchoScriptError("provider", message || "Simulated transient error", null, { isTransient: true });
	return payloadFault(position, "expected an HTTP code, connection, timeout, refused or transient");
}
