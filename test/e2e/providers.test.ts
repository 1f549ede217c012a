// A whole turn over the wire, driven by the published client, on each provider's loopback server.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { openSession, payloadsOf, run } from "../support/executable/sdk-client.ts";
import { readProviderFixture, sendEvents } from "../support/models/provider-server.ts";
import { startProvider } from "../support/models/provider-stage.ts";

const events = (...values: readonly object[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");

const chatEnd = events(
	{ id: "m2", choices: [{ index: 0, delta: { content: "Rain." } }] },
	{
		id: "m2",
		choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
		usage: { prompt_tokens: 9, completion_tokens: 2 },
	},
);

interface Provider {
	readonly type: string;
	readonly model: string;
	/** A recorded stream with a text and calls of `get_weather` and `read_image`. */
	readonly first: string;
	/** A stream that says "Rain.". */
	readonly second: string;
	/** Where the second request goes. */
	readonly place: string;
	/** What shows in the second request that a result is that of the second call. */
	readonly callId: string;
}

const providers: readonly Provider[] = [
	{
		type: "kimi",
		model: "kimi-k2.6",
		first: "kimi-stream.sse",
		second: chatEnd,
		place: "/chat/completions",
		callId: "read_image:1",
	},
	{
		type: "openai_legacy",
		model: "gpt-5.2",
		first: "openai-chat-stream.sse",
		second: chatEnd,
		place: "/chat/completions",
		callId: "call_bI2",
	},
	{
		type: "openai_responses",
		model: "gpt-5.2",
		first: "responses-stream.sse",
		second: events(
			{ type: "response.created", response: { id: "r2", created_at: 1, model: "gpt-5.2" } },
			{ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m2", role: "assistant" } },
			{ type: "response.output_text.delta", output_index: 0, item_id: "m2", delta: "Rain." },
			{ type: "response.output_item.done", output_index: 0, item: { type: "message", id: "m2" } },
			{ type: "response.completed", response: { usage: { input_tokens: 9, output_tokens: 2 } } },
		),
		place: "/responses",
		callId: "call_bI2",
	},
	{
		type: "anthropic",
		model: "claude-sonnet-5",
		first: "anthropic-stream.sse",
		second: events(
			{ type: "message_start", message: { id: "msg_2", usage: { input_tokens: 9, output_tokens: 1 } } },
			{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
			{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Rain." } },
			{ type: "content_block_stop", index: 0 },
			{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
			{ type: "message_stop" },
		),
		place: "/v1/messages",
		callId: "read_image",
	},
	...(["google_genai", "gemini", "vertexai"] as const).map((type) => ({
		type,
		model: "gemini-3-pro",
		first: "gemini-stream.sse",
		second: events({
			responseId: "r2",
			candidates: [{ content: { role: "model", parts: [{ text: "Rain." }] }, finishReason: "STOP" }],
			usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
		}),
		// Without a project Vertex AI is asked by key.
		place: `${type === "vertexai" ? "/v1/publishers/google" : "/v1beta"}/models/gemini-3-pro:streamGenerateContent?alt=sse`,
		callId: '"read_image"',
	})),
];

describe.each(providers)("the provider $type", ({ type, model, first, second, place, callId }) => {
	it("answers the published client over two steps with parallel calls", async () => {
		const provider = await startProvider();
		const stage = createStage();
		writeFileSync(
			path.join(stage.shareDir, "config.toml"),
			`default_model = "m"
[models.m]
provider = "p"
model = "${model}"
max_context_size = 200000
capabilities = ["thinking"]
[providers.p]
type = "${type}"
base_url = "${provider.url}"
api_key = "test-key-0123456789"
`,
		);
		provider.answerNext(sendEvents(readProviderFixture(first), { chunkSize: 7 }));
		provider.answerNext(sendEvents(second));
		const { events: delivered, result } = await run(openSession(stage, { thinking: true }).prompt("The weather?"));
		expect(result).toEqual({ status: "finished" });

		const calls = payloadsOf(delivered, "ToolCall");
		expect(calls).toMatchObject([{ function: { name: "get_weather" } }, { function: { name: "read_image" } }]);
		expect(payloadsOf(delivered, "ToolResult")).toHaveLength(2);
		const said = payloadsOf(delivered, "ContentPart");
		expect(said).toContainEqual({ type: "text", text: "Rain." });
		expect(payloadsOf(delivered, "StatusUpdate")).toMatchObject([
			{ token_usage: { output: expect.any(Number) } },
			{ token_usage: { input_other: 9, output: 2 } },
		]);

		expect(provider.requests.map((request) => request.path)).toEqual([place, place]);
		const sent = JSON.stringify(provider.requests[1]?.body);
		expect(sent).toContain("The weather?");
		// The call and its result.
		expect(sent.split(callId).length).toBeGreaterThan(2);
	});
});
