// Lenient about server differences: absent, null and empty are equivalent, unknown keys are ignored.
import type { ContentPart } from "../../../api/values/content.ts";
import type { Identifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type AnswerReader, createAnswer } from "../answers/answer-stream.ts";
import { type Fields, toFields, toRecords, toText } from "../answers/event-json.ts";
import { isNothing, type ProviderMemory, pickRetained, type Retained, toExtras, toSeal } from "../answers/memory.ts";
import { PartOrder } from "../answers/part-order.ts";
import { requestFailure } from "../http/request-failure.ts";
import { createCallDeltas, toToolCallDelta } from "./call-deltas.ts";
import { joinMembers, lateMembers, messageMembers } from "./opaque-members.ts";
import { toTokenUsage } from "./usage.ts";

/** Reads only the first present key of `reasoningKeys`, because they repeat each other. */
export function createChunkReader(
	reasoningKeys: readonly string[],
	memory: ProviderMemory,
	identifiers: Identifiers,
): AnswerReader {
	const order = new PartOrder(identifiers);
	const calls = createCallDeltas(order);
	const answer = createAnswer();
	const extrasOf: Retained[] = [];
	/** Message members not yet emitted. */
	let members: Retained = {};

	const emitMembers = () => {
		if (!isNothing(members)) order.addContent(toSeal(memory, "message", members));
		members = {};
	};

	const readCall = (value: Fields) => {
		const retained = pickRetained(memory, "call", value);
		const position = calls.add(toToolCallDelta(value, toExtras(memory, retained)));
		const known = extrasOf[position];
		// The call may already be emitted.
		if (known === undefined) extrasOf[position] = retained;
		else if (!isNothing(retained)) members = joinMembers(members, lateMembers(position, joinMembers(known, retained)));
	};

	const readDelta = (delta: Fields) => {
		const added = messageMembers(memory, delta);
		members = joinMembers(members, added);
		const thought = reasoningKeys.map((key) => toText(delta[key])).find((text) => text !== null);
		for (const text of thought === undefined ? reasoningTexts(added) : [thought]) order.addContent(thinkPart(text));
		// A refusal is the model's answer in another field.
		for (const part of [...toContent(delta["content"]), ...toContent(delta["refusal"])]) order.addContent(part);
		const toolCalls = toRecords(delta["tool_calls"]);
		if (toolCalls.length > 0 && extrasOf.length === 0) emitMembers();
		for (const toolCall of toolCalls) readCall(toolCall);
	};

	return {
		order,
		answer,
		read(chunk) {
			if (!isRecord(chunk)) throw requestFailure("provider", "The provider sent an event that is not an object.");
			answer.messageId ??= toText(chunk["id"]);
			const [choice] = toRecords(chunk["choices"]);
			if (choice !== undefined) {
				readDelta(toFields(choice["delta"]));
				const reason = toText(choice["finish_reason"]);
				if (reason !== null) {
					answer.end = { reason, explanation: null };
					answer.state = "complete";
				}
				answer.usage = toTokenUsage(choice["usage"]) ?? answer.usage;
			}
			answer.usage = toTokenUsage(chunk["usage"]) ?? answer.usage;
		},
		end: emitMembers,
	};
}

/** The reasoning of servers that only send it in its details. */
function reasoningTexts({ reasoning_details: details }: Retained): string[] {
	return toRecords(details).flatMap((detail) => toText(detail["text"]) ?? toText(detail["summary"]) ?? []);
}

/** A string, or the list of typed blocks that some servers send instead. */
function toContent(value: unknown): ContentPart[] {
	const text = toText(value);
	if (text !== null) return [{ type: "text", text }];
	return toRecords(value).flatMap((block): ContentPart[] => {
		if (block["type"] === "text") return toContent(block["text"]);
		if (block["type"] !== "thinking") return [];
		const reasoning = toContent(block["thinking"]);
		return reasoning.flatMap((part) => (part.type === "text" ? [thinkPart(part.text)] : []));
	});
}

function thinkPart(think: string): ContentPart {
	return { type: "think", think, encrypted: null };
}
