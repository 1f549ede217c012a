// A provider of chat completions in memory: every model name has a gate of its own, which says what it answers.

import type { HistoryEntry } from "../../../src/api/values/conversation.ts";
import { isRecord } from "../../../src/base/json.ts";
import type { ModelChunk } from "../../../src/core/models/model.ts";
import type { Fetch } from "../../../src/ports/network/network-settings.ts";
import { createGatedModel, type GatedModel } from "./campaign-model.ts";

export interface GatedProvider {
	/** Takes the requests of the type `openai_legacy`. */
	readonly fetch: Fetch;
	/** What the model of this name says. */
	gate(model: string): GatedModel;
	/** Counts requests and moves: a sign of life. */
	activity(): number;
	/** What was wrong with the conversations it was shown. */
	complaints(): readonly string[];
}

/** `isOpen`: whether models answer at once from the beginning. */
export function createGatedProvider(isOpen: boolean): GatedProvider {
	const gates = new Map<string, GatedModel>();
	const gate = (model: string): GatedModel => {
		const known = gates.get(model);
		if (known !== undefined) return known;
		const made = createGatedModel();
		if (isOpen) made.open();
		gates.set(model, made);
		return made;
	};
	return {
		gate,
		async fetch(_url, init) {
			const body: unknown = JSON.parse(String(init?.body));
			if (!isRecord(body) || !Array.isArray(body["messages"])) throw new Error("no chat completion is asked for");
			const signal = init?.signal ?? new AbortController().signal;
			const { model } = gate(String(body["model"]));
			const messages = body["messages"].flatMap(toHistoryEntry);
			return await respond(
				model.stream({ systemPrompt: "", messages, tools: [], cacheKey: "" }, signal)[Symbol.asyncIterator](),
			);
		},
		activity: () => [...gates.values()].reduce((sum, each) => sum + each.activity(), 0),
		complaints: () => [...gates].flatMap(([name, each]) => each.complaints.map((complaint) => `${name}: ${complaint}`)),
	};
}

/** As much of a message as is needed to check whether a provider accepts it. */
function toHistoryEntry(message: unknown): HistoryEntry[] {
	if (!isRecord(message)) return [];
	const { role, tool_call_id: toolCallId, tool_calls: calls } = message;
	if (role === "tool") return [{ role, content: [], toolCallId: String(toolCallId) }];
	if (role !== "assistant") return [{ role: "user", content: [] }];
	const toolCalls = (Array.isArray(calls) ? calls : []).flatMap((call: unknown) =>
		isRecord(call)
			? [
					{
						type: "function" as const,
						id: String(call["id"]),
						function: { name: "", arguments: null },
						extras: null,
					},
				]
			: [],
	);
	return [{ role, content: [], toolCalls }];
}

const encoder = new TextEncoder();
const toEvent = (value: unknown): Uint8Array => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
const toDelta = (delta: object): Uint8Array => toEvent({ choices: [{ delta }] });

/** The head of the answer comes with its first chunk, which may be a refusal. */
async function respond(chunks: AsyncIterator<ModelChunk>): Promise<Response> {
	const first = await chunks.next();
	if (first.done !== true && first.value.type === "failed") {
		const { statusCode, message } = first.value.failure;
		if (statusCode === null) throw new TypeError("fetch failed");
		return Response.json({ error: { message } }, { status: statusCode });
	}
	async function* bytes(): AsyncGenerator<Uint8Array> {
		let calls = 0;
		for (let next = first; next.done !== true; next = await chunks.next()) {
			const chunk = next.value;
			if (chunk.type === "failed") throw new TypeError("terminated");
			if (chunk.type === "done") {
				const { usage } = chunk;
				const counted =
					usage === null ? {} : { usage: { prompt_tokens: usage.input_other, completion_tokens: usage.output } };
				yield toEvent({ choices: [{ delta: {}, finish_reason: "stop" }], ...counted });
				yield encoder.encode("data: [DONE]\n\n");
				continue;
			}
			for (const part of chunk.parts) {
				switch (part.type) {
					case "text":
						yield toDelta({ content: part.text });
						break;
					case "think":
						yield toDelta({ reasoning_content: part.think });
						break;
					case "function": {
						const { name, arguments: text } = part.function;
						const call = { index: calls, id: part.id, type: "function", function: { name, arguments: text ?? "" } };
						calls += 1;
						yield toDelta({ tool_calls: [call] });
						break;
					}
					case "tool_call_part":
						yield toDelta({ tool_calls: [{ index: calls - 1, function: { arguments: part.arguments_part ?? "" } }] });
						break;
					default:
						throw new Error(`a model does not say ${part.type}`);
				}
			}
		}
	}
	return new Response(ReadableStream.from(bytes()), { headers: { "content-type": "text/event-stream" } });
}
