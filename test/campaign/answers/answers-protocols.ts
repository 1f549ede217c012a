// What each provider type streams: an answer of given texts, and a recorded stream with everything in it.
import type { ModelSettings } from "../../../src/core/models/model-settings.ts";
import { readProviderFixture } from "../../support/models/provider-server.ts";

export interface AnswerProtocol {
	readonly settings: Pick<ModelSettings, "providerType" | "model"> & Partial<ModelSettings>;
	/** The events of an answer that says these texts, one for each, what begins and what ends it. */
	events(texts: readonly string[]): readonly string[];
	/** The events of a recorded answer. */
	readonly recorded: readonly string[];
	/** An error of the provider, as the data of an event and as a body. */
	readonly error: string;
}

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const eventsOf = (fixture: string) => readProviderFixture(fixture).split(/(?<=\n\n)/);

function chat(texts: readonly string[]): string[] {
	const chunk = (delta: object, rest: object = {}) => event({ id: "m", choices: [{ index: 0, delta, ...rest }] });
	return [
		chunk({ role: "assistant" }),
		...texts.map((content) => chunk({ content })),
		chunk({}, { finish_reason: "stop" }),
		"data: [DONE]\n\n",
	];
}

function responses(texts: readonly string[]): string[] {
	return [
		event({ type: "response.created", response: { id: "m", created_at: 1, model: "m" } }),
		event({ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } }),
		...texts.map((delta) => event({ type: "response.output_text.delta", output_index: 0, item_id: "i", delta })),
		event({ type: "response.completed", response: {} }),
	];
}

function messages(texts: readonly string[]): string[] {
	const named = (value: { readonly type: string }) => `event: ${value.type}\n${event(value)}`;
	return [
		event({ type: "message_start", message: { id: "m", usage: { input_tokens: 1, output_tokens: 1 } } }),
		event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
		...texts.map((text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
		event({ type: "content_block_stop", index: 0 }),
		event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
		named({ type: "message_stop" }),
	];
}

function contents(texts: readonly string[]): string[] {
	return [
		...texts.map((text) => event({ responseId: "m", candidates: [{ content: { role: "model", parts: [{ text }] } }] })),
		event({ responseId: "m", candidates: [{ finishReason: "STOP" }] }),
	];
}

const error = { error: { message: "The server had an error.", type: "server_error", code: 500, status: "INTERNAL" } };

/** One for each provider type; both flavours of chat completions, and both APIs of Gemini. */
export const answerProtocols: readonly [AnswerProtocol, ...AnswerProtocol[]] = [
	{
		settings: { providerType: "kimi", model: "kimi-k2.6" },
		events: chat,
		recorded: eventsOf("kimi-stream.sse"),
		error: JSON.stringify(error),
	},
	{
		settings: { providerType: "openai_legacy", model: "gpt-5.2" },
		events: chat,
		recorded: eventsOf("openai-chat-stream.sse"),
		error: JSON.stringify(error),
	},
	{
		settings: { providerType: "openai_responses", model: "gpt-5.2", thinking: "on" },
		events: responses,
		recorded: eventsOf("responses-stream.sse"),
		error: JSON.stringify({ type: "error", ...error }),
	},
	{
		settings: { providerType: "anthropic", model: "claude-sonnet-5", thinking: "on" },
		events: messages,
		recorded: eventsOf("anthropic-stream.sse"),
		error: JSON.stringify({ type: "error", ...error }),
	},
	{
		settings: { providerType: "google_genai", model: "gemini-3-pro-preview", thinking: "on" },
		events: contents,
		recorded: eventsOf("gemini-stream.sse"),
		error: JSON.stringify([error]),
	},
	{
		settings: { providerType: "vertexai", model: "gemini-3-pro-preview" },
		events: contents,
		recorded: eventsOf("gemini-stream.sse"),
		error: JSON.stringify([error]),
	},
];
