// Parses the chunks of one streamed chat completion: parts in order, and the data at its end. Lenient where servers
// differ: absent, null and empty are alike, and unknown keys are ignored.

import type { ContentPart, TokenUsage } from "../../../api/values/content.ts";
import type { Identifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { RequestFailure, requestFailure } from "../http/request-failure.ts";
import { createRefusal, type ModelPart } from "../model.ts";
import { toStreamFailure } from "./failures.ts";
import { createPartOrder, type ToolCallDelta } from "./tool-call-order.ts";
import { toTokenUsage } from "./usage.ts";

export interface ChunkReader {
	/** Adds one decoded chunk. Throws RequestFailure when it contains an error. */
	read(chunk: unknown): void;
	/** The parts that can be emitted now. */
	take(): ModelPart[];
	/** The answer is complete: releases the parts held until now. Throws RequestFailure when the answer is unusable. */
	end(): void;
	readonly answer: Answer;
}

export interface Answer {
	/** Null until the server has given a finish reason. */
	readonly finishReason: string | null;
	readonly usage: TokenUsage | null;
	readonly messageId: string | null;
}

/**
 * `reasoningKeys` are the delta keys that may contain reasoning; only the first one present is read, because they
 * repeat each other.
 */
export function createChunkReader(reasoningKeys: readonly string[], identifiers: Identifiers): ChunkReader {
	const order = createPartOrder(identifiers);
	const answer: { -readonly [Key in keyof Answer]: Answer[Key] } = { finishReason: null, usage: null, messageId: null };
	let isEmpty = true;

	const addContent = (parts: readonly ContentPart[]) => {
		for (const part of parts) order.addContent(part);
	};

	const readDelta = (delta: Record<string, unknown>) => {
		for (const key of reasoningKeys) {
			const thought = toText(delta[key]);
			if (thought === null) continue;
			order.addContent(thinkPart(thought));
			break;
		}
		addContent(toContent(delta["content"]));
		// A refusal is the model's answer in another field.
		addContent(toContent(delta["refusal"]));
		const toolCalls = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
		for (const toolCall of toolCalls) if (isRecord(toolCall)) order.addToolCall(toToolCallDelta(toolCall));
	};

	return {
		answer,
		read(chunk) {
			if (!isRecord(chunk)) throw requestFailure("provider", "The provider sent an event that is not an object.");
			const error = findError(chunk);
			if (error !== null) throw new RequestFailure(toStreamFailure(error));
			answer.messageId ??= toText(chunk["id"]);
			const choice: unknown = Array.isArray(chunk["choices"]) ? chunk["choices"][0] : undefined;
			if (isRecord(choice)) {
				if (isRecord(choice["delta"])) readDelta(choice["delta"]);
				answer.finishReason = toText(choice["finish_reason"]) ?? answer.finishReason;
				answer.usage = toTokenUsage(choice["usage"]) ?? answer.usage;
			}
			answer.usage = toTokenUsage(chunk["usage"]) ?? answer.usage;
		},
		take() {
			const parts = order.take();
			if (parts.length > 0) isEmpty = false;
			return parts;
		},
		end() {
			if (isEmpty && answer.finishReason === "content_filter") {
				throw new RequestFailure(createRefusal("The provider's content filter stopped the answer."));
			}
			order.end(answer.finishReason === "length");
		},
	};
}

function findError(chunk: Record<string, unknown>): unknown {
	if (chunk["error"] !== undefined && chunk["error"] !== null) return chunk["error"];
	const message = toText(chunk["error_message"]);
	return message === null ? null : { message, type: chunk["error_type"] };
}

function toToolCallDelta(value: Record<string, unknown>): ToolCallDelta {
	const inner = isRecord(value["function"]) ? value["function"] : {};
	const piece = inner["arguments"];
	return {
		index: typeof value["index"] === "number" ? value["index"] : null,
		id: toText(value["id"]),
		name: toText(inner["name"]),
		// Some servers send the decoded arguments.
		argumentsPiece: typeof piece === "string" ? piece : isRecord(piece) ? JSON.stringify(piece) : "",
	};
}

/** A string, or the list of typed blocks that some servers send instead. */
function toContent(value: unknown): ContentPart[] {
	const text = toText(value);
	if (text !== null) return [{ type: "text", text }];
	if (!Array.isArray(value)) return [];
	return value.flatMap((block: unknown): ContentPart[] => {
		if (!isRecord(block)) return [];
		if (block["type"] === "text") return toContent(block["text"]);
		if (block["type"] !== "thinking") return [];
		const reasoning = toContent(block["thinking"]);
		return reasoning.flatMap((part) => (part.type === "text" ? [thinkPart(part.text)] : []));
	});
}

function thinkPart(think: string): ContentPart {
	return { type: "think", think, encrypted: null };
}

function toText(value: unknown): string | null {
	return typeof value === "string" && value !== "" ? value : null;
}
