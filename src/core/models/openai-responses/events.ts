// Reads the events of a response stream and passes on those that the package knows, with only the keys it reads. Others
// are ignored; what compatible servers omit is added.
import { isRecord } from "../../../base/json.ts";
import { type Fields, passed, readJsonEvent, skipped, toText } from "../ai-sdk/event-json.ts";
import type { EventReading } from "../ai-sdk/transport.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { toStreamFailure } from "../openai-compatible/failures.ts";
import { toFinish } from "./finish.ts";

interface Item {
	readonly type: "message" | "reasoning" | "function_call";
	readonly id: string;
	/** Whether a part of the item's content has been streamed. */
	isStreamed: boolean;
}

export interface ResponseEvents {
	read(event: ServerEvent): EventReading;
}

/** Creates a reader for the stream of one response. */
export function createResponseEvents(): ResponseEvents {
	const items = new Map<unknown, Item>();

	const begin = (index: unknown, fields: Fields): Fields[] => {
		const { type } = fields;
		if (type !== "message" && type !== "reasoning" && type !== "function_call") return [];
		const item: Item = { type, id: toText(fields["id"]) ?? `item_${String(index)}`, isStreamed: false };
		items.set(index, item);
		// The content of a reasoning item at its beginning is not final.
		const known = type === "function_call" ? { ...toCall(item, fields), arguments: "" } : { type, id: item.id };
		return [{ type: "response.output_item.added", output_index: index, item: known }];
	};

	const complete = (index: unknown, fields: Fields): EventReading => {
		const begun = items.has(index) ? [] : begin(index, fields);
		const item = items.get(index);
		if (item === undefined) return skipped;
		items.delete(index);
		const late = item.isStreamed ? [] : unstreamed(item, fields);
		const done = { type: "response.output_item.done", output_index: index, item: toDone(item, fields) };
		return passed(...begun, ...late, done);
	};

	const extend = (index: unknown, type: Item["type"], toEvent: (item: Item) => Fields): EventReading => {
		const item = items.get(index);
		if (item?.type !== type) return skipped;
		item.isStreamed = true;
		return passed(toEvent(item));
	};

	const readFields = (fields: Fields, isError: boolean): EventReading => {
		const { type, output_index: index } = fields;
		const field = (name: string): Fields => (isRecord(fields[name]) ? fields[name] : {});
		const delta = typeof fields["delta"] === "string" ? fields["delta"] : "";
		const summary = typeof fields["summary_index"] === "number" ? fields["summary_index"] : 0;
		if (isError || type === "error") return { kind: "failed", failure: toStreamFailure(fields["error"] ?? fields) };
		switch (type) {
			case "response.created": {
				const { id, model, created_at } = field("response");
				const response = {
					id: toText(id) ?? "",
					model: toText(model) ?? "",
					created_at: typeof created_at === "number" ? created_at : 0,
				};
				return response.id === "" ? skipped : passed({ type, response });
			}
			case "response.output_item.added": {
				const events = begin(index, field("item"));
				return events.length === 0 ? skipped : passed(...events);
			}
			case "response.output_item.done":
				return complete(index, field("item"));
			case "response.output_text.delta":
			case "response.refusal.delta":
				return extend(index, "message", ({ id }) => ({ type, item_id: id, delta }));
			case "response.reasoning_summary_part.added":
			case "response.reasoning_summary_part.done":
				return extend(index, "reasoning", ({ id }) => ({ type, item_id: id, summary_index: summary }));
			case "response.reasoning_summary_text.delta":
				return extend(index, "reasoning", ({ id }) => ({ type, item_id: id, summary_index: summary, delta }));
			// Models with open weights send the reasoning itself.
			case "response.reasoning_text.delta":
				return extend(index, "reasoning", ({ id }) => thought(id, delta));
			case "response.function_call_arguments.delta":
				return extend(index, "function_call", ({ id }) => ({ type, item_id: id, output_index: index, delta }));
			case "response.completed":
			case "response.incomplete":
				return { kind: "last", data: [JSON.stringify({ type, response: toFinish(field("response")) })] };
			case "response.failed":
				return { kind: "failed", failure: toStreamFailure(field("response")["error"]) };
			default:
				return skipped;
		}
	};

	return {
		read: (event) =>
			readJsonEvent(event, toStreamFailure, (value) =>
				isRecord(value) ? readFields(value, event.event === "error") : skipped,
			),
	};
}

function toDone(item: Item, fields: Fields): Fields {
	switch (item.type) {
		case "message": {
			const { phase } = fields;
			return { type: "message", id: item.id, phase: phase === "commentary" || phase === "final_answer" ? phase : null };
		}
		case "reasoning":
			return { type: "reasoning", id: item.id, encrypted_content: toText(fields["encrypted_content"]) };
		case "function_call": {
			const status = fields["status"] === "incomplete" ? "incomplete" : "completed";
			return { ...toCall(item, fields), arguments: toText(fields["arguments"]) ?? "", status };
		}
	}
}

function toCall(item: Item, fields: Fields): Fields {
	const callId = toText(fields["call_id"]) ?? item.id;
	return { type: "function_call", id: item.id, call_id: callId, name: toText(fields["name"]) ?? "" };
}

/** The content of an item that was not streamed. The arguments of a call are read from its end anyway. */
function unstreamed(item: Item, fields: Fields): Fields[] {
	switch (item.type) {
		case "message":
			return texts(fields["content"], "text").map((delta) => ({
				type: "response.output_text.delta",
				item_id: item.id,
				delta,
			}));
		case "reasoning":
			return [...texts(fields["summary"], "text"), ...texts(fields["content"], "text")].map((text) =>
				thought(item.id, text),
			);
		case "function_call":
			return [];
	}
}

function thought(id: string, delta: string): Fields {
	return { type: "response.reasoning_summary_text.delta", item_id: id, summary_index: 0, delta };
}

function texts(parts: unknown, key: string): string[] {
	if (!Array.isArray(parts)) return [];
	return parts.flatMap((part: unknown) => (isRecord(part) ? (toText(part[key]) ?? []) : []));
}
