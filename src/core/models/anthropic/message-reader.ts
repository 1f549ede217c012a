import { randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type AnswerReader, createAnswer } from "../answers/answer-stream.ts";
import { type Fields, toFields, toText } from "../answers/event-json.ts";
import { isNothing, type ProviderMemory, pickRetained, type Retained, toSeal } from "../answers/memory.ts";
import { type CallDraft, PartOrder } from "../answers/part-order.ts";
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

export class MessageReader implements AnswerReader {
	readonly order = new PartOrder(randomIdentifiers);
	readonly answer = createAnswer();
	readonly #memory: ProviderMemory;
	readonly #keepsUnsigned: boolean;
	readonly #blocks = new Map<unknown, Block>();
	readonly #counts = new Map<string, number>();

	/** `keepsUnsigned`: reasoning without a signature is also sent back. */
	constructor(memory: ProviderMemory, keepsUnsigned: boolean) {
		this.#memory = memory;
		this.#keepsUnsigned = keepsUnsigned;
	}

	read(event: unknown): void {
		if (!isRecord(event)) return;
		const { type, index } = event;
		const block = this.#blocks.get(index);
		if (type === "message_start") {
			const message = toFields(event["message"]);
			this.answer.messageId ??= toText(message["id"]);
			this.#count(message["usage"]);
		} else if (type === "content_block_start") this.#startBlock(index, toFields(event["content_block"]));
		else if (type === "content_block_delta" && block !== undefined) this.#readDelta(block, toFields(event["delta"]));
		else if (type === "content_block_stop" && block !== undefined) this.#endBlock(index, block);
		else if (type === "message_delta") this.#changeMessage(toFields(event["delta"]), event["usage"]);
		else if (type === "message_stop") this.#finish();
	}

	#addThought(block: Thought, text: string | null): void {
		if (text === null) return;
		block.hasText = true;
		this.order.addContent({ type: "think", think: text, encrypted: null });
	}

	#addText(text: string | null): void {
		if (text !== null) this.order.addContent({ type: "text", text });
	}

	#startBlock(index: unknown, fields: Fields): void {
		switch (fields["type"]) {
			case "text":
				this.#blocks.set(index, { type: "text" });
				this.#addText(toText(fields["text"]));
				break;
			case "thinking": {
				const retained = pickRetained(this.#memory, "thought", fields);
				const block: Thought = { type: "thinking", retained, hasText: false };
				this.#blocks.set(index, block);
				this.#addThought(block, toText(fields["thinking"]));
				break;
			}
			case "redacted_thinking":
				this.order.addContent(toSeal(this.#memory, "thought", { redactedData: toText(fields["data"]) ?? "" }));
				break;
			case "tool_use": {
				const name = toText(fields["name"]);
				// Compatible servers may omit the id.
				const id = toText(fields["id"]) ?? `toolu_${randomIdentifiers.hex(24)}`;
				const call = this.order.beginCall({ id, name, argumentsPiece: null });
				this.#blocks.set(index, { type: "tool_use", call, input: toFields(fields["input"]) });
			}
		}
	}

	#readDelta(block: Block, delta: Fields): void {
		switch (delta["type"]) {
			case "text_delta":
				this.#addText(toText(delta["text"]));
				break;
			case "thinking_delta":
				if (block.type === "thinking") this.#addThought(block, toText(delta["thinking"]));
				break;
			case "signature_delta": {
				if (block.type !== "thinking") break;
				const before = block.retained["signature"];
				const signature = `${typeof before === "string" ? before : ""}${toText(delta["signature"]) ?? ""}`;
				block.retained = { ...block.retained, signature };
				break;
			}
			case "input_json_delta":
				if (block.type === "tool_use") this.#extendCall(block.call, toText(delta["partial_json"]));
		}
	}

	#extendCall(call: CallDraft, argumentsPiece: string | null): void {
		if (argumentsPiece !== null) this.order.extendCall(call, { id: null, name: null, argumentsPiece });
	}

	#endBlock(index: unknown, block: Block): void {
		this.#blocks.delete(index);
		if (block.type === "tool_use") {
			const { call, input } = block;
			if (call.arguments === null && !isNothing(input)) this.#extendCall(call, JSON.stringify(input));
			this.order.endCall(call);
		} else if (block.type === "thinking") {
			const { retained, hasText } = block;
			const isSigned = toText(retained["signature"]) !== null;
			if (isSigned || (this.#keepsUnsigned && hasText))
				this.order.addContent(toSeal(this.#memory, "thought", retained));
		}
	}

	#count(usage: unknown): void {
		for (const [name, value] of Object.entries(toFields(usage))) {
			const tokens = toCount(value);
			if (tokens !== null) this.#counts.set(name, tokens);
		}
	}

	#changeMessage(delta: Fields, usage: unknown): void {
		this.#count(usage);
		const reason = toText(delta["stop_reason"]) ?? this.answer.end?.reason ?? null;
		const explanation = toText(toFields(delta["stop_details"])["explanation"]) ?? this.answer.end?.explanation ?? null;
		if (reason !== null) this.answer.end = { reason, explanation };
	}

	#finish(): void {
		for (const [index, block] of this.#blocks) this.#endBlock(index, block);
		this.answer.usage = toUsage({
			input: this.#counts.get("input_tokens"),
			read: this.#counts.get("cache_read_input_tokens"),
			creation: this.#counts.get("cache_creation_input_tokens"),
			output: this.#counts.get("output_tokens"),
		});
		this.answer.state = "over";
	}
}
