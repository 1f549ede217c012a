// Reads the events of a message stream. New events, blocks, deltas and keys are ignored, as the API asks of its clients.
import { type Identifiers, randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type AnswerReader, createAnswer } from "../answers/answer-stream.ts";
import { type Fields, toFields, toText } from "../answers/event-json.ts";
import { isNothing, type ProviderMemory, pickRetained, type Retained, toSeal } from "../answers/memory.ts";
import { type CallDraft, createPartOrder } from "../answers/part-order.ts";
import { createErrorReader } from "../http/error-answer.ts";
import { toCount, toUsage } from "../token-count.ts";

export const errorReader = createErrorReader({
	creditMarks: new Set(["enforced_spend_limit_reached", "contract_spend_limit_reached"]),
	statusOfMark: new Map([
		["invalid_request_error", 400],
		["authentication_error", 401],
		["billing_error", 402],
		["permission_error", 403],
		["not_found_error", 404],
		["request_too_large", 413],
		["rate_limit_error", 429],
		["api_error", 500],
		["timeout_error", 504],
		["overloaded_error", 529],
	]),
});

interface Thought {
	readonly type: "thinking";
	retained: Retained;
	hasText: boolean;
}

type Block =
	| { readonly type: "text" }
	| Thought
	| { readonly type: "tool_use"; readonly call: CallDraft; readonly input: Fields };

/** `keepsUnsigned`: reasoning without a signature is sent back, too. */
export function createMessageReader(
	memory: ProviderMemory,
	keepsUnsigned: boolean,
	identifiers: Identifiers = randomIdentifiers,
): AnswerReader {
	const order = createPartOrder(identifiers);
	const answer = createAnswer();
	const blocks = new Map<unknown, Block>();
	let counts: Record<string, number> = {};

	const addThought = (block: Thought, text: string | null) => {
		if (text === null) return;
		block.hasText = true;
		order.addContent({ type: "think", think: text, encrypted: null });
	};
	const addText = (text: string | null) => {
		if (text !== null) order.addContent({ type: "text", text });
	};

	const startBlock = (index: unknown, fields: Fields) => {
		switch (fields["type"]) {
			case "text":
				blocks.set(index, { type: "text" });
				addText(toText(fields["text"]));
				break;
			case "thinking": {
				const block: Thought = { type: "thinking", retained: pickRetained(memory, "thought", fields), hasText: false };
				blocks.set(index, block);
				addThought(block, toText(fields["thinking"]));
				break;
			}
			case "redacted_thinking":
				order.addContent(toSeal(memory, "thought", { redactedData: toText(fields["data"]) ?? "" }));
				break;
			case "tool_use": {
				const name = toText(fields["name"]);
				// Servers like this API may send no id.
				const id = toText(fields["id"]) ?? `toolu_${identifiers.hex(24)}`;
				const call = order.beginCall({ id, name, argumentsPiece: null });
				blocks.set(index, { type: "tool_use", call, input: toFields(fields["input"]) });
			}
		}
	};

	const readDelta = (block: Block, delta: Fields) => {
		switch (delta["type"]) {
			case "text_delta":
				addText(toText(delta["text"]));
				break;
			case "thinking_delta":
				if (block.type === "thinking") addThought(block, toText(delta["thinking"]));
				break;
			case "signature_delta": {
				if (block.type !== "thinking") break;
				const before = block.retained["signature"];
				const signature = `${typeof before === "string" ? before : ""}${toText(delta["signature"]) ?? ""}`;
				block.retained = { ...block.retained, signature };
				break;
			}
			case "input_json_delta":
				if (block.type === "tool_use") extendCall(block.call, toText(delta["partial_json"]));
		}
	};

	const extendCall = (call: CallDraft, argumentsPiece: string | null) => {
		if (argumentsPiece !== null) order.extendCall(call, { id: null, name: null, argumentsPiece });
	};

	const endBlock = (index: unknown, block: Block) => {
		blocks.delete(index);
		if (block.type === "tool_use") {
			if (block.call.arguments === null && !isNothing(block.input)) extendCall(block.call, JSON.stringify(block.input));
			order.endCall(block.call);
		} else if (block.type === "thinking") {
			const isSigned = toText(block.retained["signature"]) !== null;
			if (isSigned || (keepsUnsigned && block.hasText)) order.addContent(toSeal(memory, "thought", block.retained));
		}
	};

	const count = (usage: unknown) => {
		for (const [name, value] of Object.entries(toFields(usage))) {
			const tokens = toCount(value);
			if (tokens !== null) counts = { ...counts, [name]: tokens };
		}
	};

	const changeMessage = (delta: Fields, usage: unknown) => {
		count(usage);
		const reason = toText(delta["stop_reason"]) ?? answer.end?.reason ?? null;
		const explanation = toText(toFields(delta["stop_details"])["explanation"]) ?? answer.end?.explanation ?? null;
		if (reason !== null) answer.end = { reason, explanation };
	};

	const finish = () => {
		for (const [index, block] of blocks) endBlock(index, block);
		answer.usage = toUsage({
			input: counts["input_tokens"],
			read: counts["cache_read_input_tokens"],
			creation: counts["cache_creation_input_tokens"],
			output: counts["output_tokens"],
		});
		answer.state = "over";
	};

	return {
		order,
		answer,
		read(event) {
			if (!isRecord(event)) return;
			const { type, index } = event;
			const block = blocks.get(index);
			if (type === "message_start") {
				const message = toFields(event["message"]);
				answer.messageId ??= toText(message["id"]);
				count(message["usage"]);
			} else if (type === "content_block_start") startBlock(index, toFields(event["content_block"]));
			else if (type === "content_block_delta" && block !== undefined) readDelta(block, toFields(event["delta"]));
			else if (type === "content_block_stop" && block !== undefined) endBlock(index, block);
			else if (type === "message_delta") changeMessage(toFields(event["delta"]), event["usage"]);
			else if (type === "message_stop") finish();
		},
	};
}
