import { randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type AnswerReader, createAnswer } from "../answers/answer-stream.ts";
import { type Fields, toFields, toRecords, toText } from "../answers/event-json.ts";
import { type ProviderMemory, pickRetained, toSeal } from "../answers/memory.ts";
import { type CallDraft, PartOrder } from "../answers/part-order.ts";
import { RequestFailure } from "../http/request-failure.ts";
import type { ModelFailure } from "../model.ts";
import { errorReader } from "../openai-compatible/failures.ts";
import { toCount, toUsage } from "../token-count.ts";

interface Item {
	readonly type: "message" | "reasoning" | "function_call";
	readonly id: string;
	readonly call: CallDraft | null;
	/** Whether a part of the item's content has been streamed. */
	isStreamed: boolean;
}

export class ResponseReader implements AnswerReader {
	readonly order = new PartOrder(randomIdentifiers);
	readonly answer = createAnswer();
	readonly #memory: ProviderMemory;
	readonly #items = new Map<unknown, Item>();
	#hasItems = false;

	constructor(memory: ProviderMemory) {
		this.#memory = memory;
	}

	read(event: unknown): void {
		if (!isRecord(event)) return;
		const { type, output_index: index, delta, response } = event;
		switch (type) {
			case "response.created":
				this.answer.messageId ??= toText(toFields(response)["id"]);
				break;
			case "response.output_item.added":
				this.#begin(index, toFields(event["item"]));
				break;
			case "response.output_item.done":
				this.#complete(index, toFields(event["item"]));
				break;
			case "response.output_text.delta":
			case "response.refusal.delta":
				this.#extend(index, "message", delta);
				break;
			case "response.reasoning_summary_part.added":
				// Summary parts are paragraphs.
				if (this.#items.get(index)?.isStreamed) this.#extend(index, "reasoning", "\n\n");
				break;
			case "response.reasoning_summary_text.delta":
			// Open-weight models send the reasoning itself.
			case "response.reasoning_text.delta":
				this.#extend(index, "reasoning", delta);
				break;
			case "response.function_call_arguments.delta":
				this.#extend(index, "function_call", delta);
				break;
			case "response.completed":
			case "response.incomplete":
				this.#finish(type, toFields(response));
				break;
			case "response.failed":
				throw new RequestFailure(asTransient(errorReader.event(toFields(response)["error"])));
		}
	}

	#begin(index: unknown, fields: Fields): Item | null {
		const { type } = fields;
		if (type !== "message" && type !== "reasoning" && type !== "function_call") return null;
		const id = toText(fields["id"]) ?? `item_${String(index)}`;
		const call = type === "function_call" ? this.#beginCall(id, fields) : null;
		const item: Item = { type, id, call, isStreamed: false };
		this.#hasItems = true;
		this.#items.set(index, item);
		return item;
	}

	#beginCall(itemId: string, fields: Fields): CallDraft {
		// The arguments may already be complete here; only the arguments in the item's last event count.
		const argumentsPiece = fields["arguments"] === "" ? "" : null;
		return this.order.beginCall({
			id: toText(fields["call_id"]) ?? itemId,
			name: toText(fields["name"]),
			argumentsPiece,
		});
	}

	#addText(type: Item["type"], text: string): void {
		if (type === "message") this.order.addContent({ type: "text", text });
		else this.order.addContent({ type: "think", think: text, encrypted: null });
	}

	/** Adds a delta to the item; ignores a delta for another item type. */
	#extend(index: unknown, type: Item["type"], delta: unknown): void {
		const item = this.#items.get(index);
		const piece = toText(delta);
		if (item?.type !== type || piece === null) return;
		item.isStreamed = true;
		if (item.call !== null) this.order.extendCall(item.call, { id: null, name: null, argumentsPiece: piece });
		else this.#addText(type, piece);
	}

	#complete(index: unknown, fields: Fields): void {
		const item = this.#items.get(index) ?? this.#begin(index, fields);
		if (item === null) return;
		this.#items.delete(index);
		const { call, id, type, isStreamed } = item;
		if (call !== null) {
			const given = isStreamed ? null : toText(fields["arguments"]);
			this.order.extendCall(call, { id: null, name: toText(fields["name"]), argumentsPiece: given });
			// A call that was cut off stays open.
			if (fields["status"] !== "incomplete") this.order.endCall(call);
			return;
		}
		const { summary, content } = fields;
		if (!isStreamed) {
			for (const part of [...toRecords(summary), ...toRecords(content)]) {
				const text = toText(part["text"]) ?? toText(part["refusal"]);
				if (text !== null) this.#addText(type, text);
			}
		}
		if (type === "reasoning") {
			const encrypted = toText(fields["encrypted_content"]);
			const retained = { itemId: id, ...(encrypted === null ? {} : { reasoningEncryptedContent: encrypted }) };
			this.order.addContent(toSeal(this.#memory, "thought", retained));
			return;
		}
		const { phase } = pickRetained(this.#memory, "text", fields);
		if (phase !== "commentary" && phase !== "final_answer") return;
		this.order.addContent(toSeal(this.#memory, "text", { phase }));
	}

	#finish(type: unknown, response: Fields): void {
		// Some servers send the output only at the end.
		const late = this.#hasItems ? [] : toRecords(response["output"]);
		for (const [index, item] of late.entries()) this.#complete(index, item);
		const reason = toText(toFields(response["incomplete_details"])["reason"]);
		const isIncomplete = type === "response.incomplete" || response["status"] === "incomplete";
		if (reason !== null || isIncomplete) this.answer.end = { reason: reason ?? "incomplete", explanation: null };
		this.answer.usage = readUsage(toFields(response["usage"]));
		this.answer.state = "over";
	}
}

/** A failure without a specific code may be transient. */
function asTransient(failure: ModelFailure): ModelFailure {
	return failure.kind === "provider" && failure.statusCode === null ? { ...failure, isTransient: true } : failure;
}

function readUsage(usage: Fields) {
	const details = toFields(usage["input_tokens_details"]);
	const total = toCount(usage["input_tokens"]) ?? 0;
	const read = Math.min(total, toCount(details["cached_tokens"]) ?? 0);
	const creation = Math.min(total - read, toCount(details["cache_write_tokens"]) ?? 0);
	const output = toCount(usage["output_tokens"]) ?? 0;
	return toUsage({ input: total - read - creation, read, creation, output });
}
