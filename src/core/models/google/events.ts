// Reads the events of a Gemini stream and passes on what the package knows, with only the keys it reads. There is no
// end mark: the event with the reason why the answer ended, or why there is none, is the last.
import { randomBytes } from "node:crypto";
import { isRecord } from "../../../base/json.ts";
import { type Fields, readJsonEvent, skipped, toText } from "../ai-sdk/event-json.ts";
import type { EventReading } from "../ai-sdk/transport.ts";
import { createErrorReader } from "../http/error-answer.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { toCount } from "../token-count.ts";

export const errorReader = createErrorReader({
	creditMarks: new Set(),
	longQuota: /PerDay/,
	keyMarks: new Set(["API_KEY_INVALID"]),
	statusOfMark: new Map([
		["INVALID_ARGUMENT", 400],
		["FAILED_PRECONDITION", 400],
		["UNAUTHENTICATED", 401],
		["PERMISSION_DENIED", 403],
		["NOT_FOUND", 404],
		["RESOURCE_EXHAUSTED", 429],
		["INTERNAL", 500],
		["UNAVAILABLE", 503],
		["DEADLINE_EXCEEDED", 504],
	]),
});

/** Prefix of ids for calls without an id of the provider's: they are not sent back. */
export const localIdPrefix = "local_";

/** Why an answer ended, in the provider's words. */
export interface Ending {
	readonly isPromptRefused: boolean;
	readonly reason: string;
	readonly explanation: string | null;
}

export interface ContentEvents {
	read(event: ServerEvent): EventReading;
	/** Null before the last event. */
	ending(): Ending | null;
}

/** Creates a reader for the stream of one answer. */
export function createContentEvents(): ContentEvents {
	let ending: Ending | null = null;
	let usage: Fields = {};

	const readFields = (fields: Fields): EventReading => {
		if (fields["error"] !== undefined) return { kind: "failed", failure: errorReader.event(fields["error"]) };
		usage = { ...usage, ...toCounts(fields["usageMetadata"]) };
		const feedback = toFields(fields["promptFeedback"]);
		const refusal = toText(feedback["blockReason"]);
		const candidates: unknown = fields["candidates"];
		const candidate = toFields(Array.isArray(candidates) ? candidates[0] : null);
		const finish = toText(candidate["finishReason"]);
		if (refusal !== null) {
			ending = { isPromptRefused: true, reason: refusal, explanation: toText(feedback["blockReasonMessage"]) };
		} else if (finish !== null) {
			ending = { isPromptRefused: false, reason: finish, explanation: toText(candidate["finishMessage"]) };
		}
		const data = JSON.stringify({
			responseId: toText(fields["responseId"]),
			usageMetadata: usage,
			...(refusal === null ? {} : { promptFeedback: { blockReason: refusal } }),
			candidates: [{ content: { parts: toParts(candidate["content"]) }, finishReason: finish }],
		});
		return { kind: ending === null ? "pass" : "last", data: [data] };
	};

	return {
		ending: () => ending,
		read: (event) =>
			readJsonEvent(event, errorReader.event, (value) => {
				const first: unknown = Array.isArray(value) ? value[0] : value;
				return isRecord(first) ? readFields(first) : skipped;
			}),
	};
}

function toParts(content: unknown): Fields[] {
	const parts = toFields(content)["parts"];
	return Array.isArray(parts) ? parts.flatMap((part: unknown) => (isRecord(part) ? toPart(part) : [])) : [];
}

/** Texts, reasoning and calls. A signature that came with a text follows it, like that of an answer without calls. */
function toPart(part: Fields): Fields[] {
	const signature = toText(part["thoughtSignature"]);
	const signed = signature === null ? {} : { thoughtSignature: signature };
	const call = part["functionCall"];
	if (isRecord(call)) {
		const id = toText(call["id"]) ?? `${localIdPrefix}${randomBytes(8).toString("hex")}`;
		return [{ functionCall: { id, name: toText(call["name"]) ?? "", args: toFields(call["args"]) }, ...signed }];
	}
	const { text } = part;
	if (typeof text !== "string") return [];
	if (part["thought"] === true) return text === "" ? [] : [{ text, thought: true, ...signed }];
	const unsigned = text === "" ? [] : [{ text }];
	return signature === null ? unsigned : [...unsigned, { text: "", ...signed }];
}

/** Counts are totals of the answer so far; some events omit counts of earlier ones. */
function toCounts(value: unknown): Fields {
	const counts = toFields(value);
	const names = [
		"promptTokenCount",
		"cachedContentTokenCount",
		"candidatesTokenCount",
		"thoughtsTokenCount",
		"toolUsePromptTokenCount",
		"totalTokenCount",
	];
	return Object.fromEntries(
		names.flatMap((name) => {
			const count = toCount(counts[name]);
			return count === null ? [] : [[name, count]];
		}),
	);
}

function toFields(value: unknown): Fields {
	return isRecord(value) ? value : {};
}
