// Reads the events of a response stream. Unknown ones are ignored; what compatible servers omit is made up for.
import { type Identifiers, randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { type AnswerReader, createAnswer } from "../answers/answer-stream.ts";
import { type Fields, toFields, toRecords, toText } from "../answers/event-json.ts";
import { type ProviderMemory, pickRetained, toSeal } from "../answers/memory.ts";
import { type CallDraft, createPartOrder } from "../answers/part-order.ts";
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

export function createResponseReader(
	memory: ProviderMemory,
	identifiers: Identifiers = randomIdentifiers,
): AnswerReader {
	const order = createPartOrder(identifiers);
	const answer = createAnswer();
	const items = new Map<unknown, Item>();
	let hasItems = false;

	const begin = (index: unknown, fields: Fields): Item | null => {
		const { type } = fields;
		if (type !== "message" && type !== "reasoning" && type !== "function_call") return null;
		const id = toText(fields["id"]) ?? `item_${String(index)}`;
		// All arguments may be there from the start: those of the end count.
		const argumentsPiece = fields["arguments"] === "" ? "" : null;
		const callId = toText(fields["call_id"]) ?? id;
		const call =
			type === "function_call" ? order.beginCall({ id: callId, name: toText(fields["name"]), argumentsPiece }) : null;
		const item: Item = { type, id, call, isStreamed: false };
		hasItems = true;
		items.set(index, item);
		return item;
	};

	const addText = (text: string) => order.addContent({ type: "text", text });
	const addThought = (text: string) => order.addContent({ type: "think", think: text, encrypted: null });

	/** What follows of an item; nothing of one of another type. */
	const extend = (index: unknown, type: Item["type"], delta: unknown) => {
		const item = items.get(index);
		const piece = toText(delta);
		if (item?.type !== type || piece === null) return;
		item.isStreamed = true;
		if (item.call !== null) order.extendCall(item.call, { id: null, name: null, argumentsPiece: piece });
		else if (type === "message") addText(piece);
		else addThought(piece);
	};

	const complete = (index: unknown, fields: Fields) => {
		const item = items.get(index) ?? begin(index, fields);
		if (item === null) return;
		items.delete(index);
		const { call, id, type, isStreamed } = item;
		if (call !== null) {
			const given = isStreamed ? null : toText(fields["arguments"]);
			order.extendCall(call, { id: null, name: toText(fields["name"]), argumentsPiece: given });
			// One that was cut off stays open.
			if (fields["status"] !== "incomplete") order.endCall(call);
			return;
		}
		const { summary, content } = fields;
		if (!isStreamed) {
			for (const part of [...toRecords(summary), ...toRecords(content)]) {
				const text = toText(part["text"]) ?? toText(part["refusal"]);
				if (text !== null) (type === "message" ? addText : addThought)(text);
			}
		}
		if (type === "reasoning") {
			const encrypted = toText(fields["encrypted_content"]);
			const retained = { itemId: id, ...(encrypted === null ? {} : { reasoningEncryptedContent: encrypted }) };
			order.addContent(toSeal(memory, "thought", retained));
			return;
		}
		const { phase } = pickRetained(memory, "text", fields);
		if (phase === "commentary" || phase === "final_answer") order.addContent(toSeal(memory, "text", { phase }));
	};

	const finish = (type: unknown, response: Fields) => {
		// Some servers send the output at the end alone.
		if (!hasItems) for (const [index, item] of toRecords(response["output"]).entries()) complete(index, item);
		const reason = toText(toFields(response["incomplete_details"])["reason"]);
		const isIncomplete = type === "response.incomplete" || response["status"] === "incomplete";
		if (reason !== null || isIncomplete) answer.end = { reason: reason ?? "incomplete", explanation: null };
		answer.usage = readUsage(toFields(response["usage"]));
		answer.state = "over";
	};

	return {
		order,
		answer,
		read(event) {
			if (!isRecord(event)) return;
			const { type, output_index: index, delta, response } = event;
			switch (type) {
				case "response.created":
					answer.messageId ??= toText(toFields(response)["id"]);
					break;
				case "response.output_item.added":
					begin(index, toFields(event["item"]));
					break;
				case "response.output_item.done":
					complete(index, toFields(event["item"]));
					break;
				case "response.output_text.delta":
				case "response.refusal.delta":
					extend(index, "message", delta);
					break;
				case "response.reasoning_summary_part.added":
					// Parts of a summary are paragraphs.
					if (items.get(index)?.isStreamed) extend(index, "reasoning", "\n\n");
					break;
				case "response.reasoning_summary_text.delta":
				// Models with open weights send the reasoning itself.
				case "response.reasoning_text.delta":
					extend(index, "reasoning", delta);
					break;
				case "response.function_call_arguments.delta":
					extend(index, "function_call", delta);
					break;
				case "response.completed":
				case "response.incomplete":
					finish(type, toFields(response));
					break;
				case "response.failed":
					throw new RequestFailure(asTransient(errorReader.event(toFields(response)["error"])));
			}
		},
	};
}

/** A failure without a code that says more. */
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
