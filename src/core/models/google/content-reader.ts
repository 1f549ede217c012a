import { type Identifiers, randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type AnswerReader, createAnswer } from "../answers/answer-stream.ts";
import { type Fields, toFields, toRecords, toText } from "../answers/event-json.ts";
import { isNothing, type ProviderMemory, pickRetained, toExtras, toSeal } from "../answers/memory.ts";
import { PartOrder } from "../answers/part-order.ts";
import { createErrorReader } from "../http/error-answer.ts";
import { RequestFailure } from "../http/request-failure.ts";
import { createRefusal } from "../model.ts";
import { toCount, toUsage } from "../token-count.ts";

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

/** Prefix of locally created call ids, which are not sent back. */
export const localIdPrefix = "local_";

export function createContentReader(
	memory: ProviderMemory,
	identifiers: Identifiers = randomIdentifiers,
): AnswerReader {
	const order = new PartOrder(identifiers);
	const answer = createAnswer();
	/** Totals of the answer so far; some events omit earlier counts. */
	let counts: Record<string, number> = {};

	const readPart = (part: Fields) => {
		const { functionCall: call, text } = part;
		if (isRecord(call)) {
			const id = toText(call["id"]) ?? `${localIdPrefix}${identifiers.hex(16)}`;
			const extras = toExtras(memory, pickRetained(memory, "call", part));
			const draft = order.beginCall({ id, name: toText(call["name"]), argumentsPiece: null, extras });
			const input = toFields(call["args"]);
			if (!isNothing(input)) order.extendCall(draft, { id, name: null, argumentsPiece: JSON.stringify(input) });
			order.endCall(draft);
			return;
		}
		if (typeof text !== "string") return;
		const kind = part["thought"] === true ? "thought" : "text";
		if (text !== "") {
			order.addContent(kind === "text" ? { type: "text", text } : { type: "think", think: text, encrypted: null });
		}
		const retained = pickRetained(memory, kind, part);
		if (!isNothing(retained)) order.addContent(toSeal(memory, kind, retained));
	};

	return {
		order,
		answer,
		read(event) {
			if (!isRecord(event)) return;
			answer.messageId ??= toText(event["responseId"]);
			for (const [name, value] of Object.entries(toFields(event["usageMetadata"]))) {
				const count = toCount(value);
				if (count !== null) counts = { ...counts, [name]: count };
			}
			const feedback = toFields(event["promptFeedback"]);
			const refusal = toText(feedback["blockReason"]);
			if (refusal !== null) {
				const explanation = toText(feedback["blockReasonMessage"]);
				const words = explanation === null ? refusal : `${refusal}: ${explanation}`;
				throw new RequestFailure(createRefusal(`The provider refused the prompt (${words}).`));
			}
			const [candidate = {}] = toRecords(event["candidates"]);
			for (const part of toRecords(toFields(candidate["content"])["parts"])) readPart(part);
			const reason = toText(candidate["finishReason"]);
			if (reason === null) return;
			answer.end = { reason, explanation: toText(candidate["finishMessage"]) };
			answer.usage = readUsage(counts);
			answer.state = "over";
		},
	};
}

function readUsage(counts: Record<string, number>) {
	const total = counts["promptTokenCount"] ?? 0;
	const read = Math.min(total, counts["cachedContentTokenCount"] ?? 0);
	const output = (counts["candidatesTokenCount"] ?? 0) + (counts["thoughtsTokenCount"] ?? 0);
	return toUsage({ input: total - read, read, creation: 0, output });
}
