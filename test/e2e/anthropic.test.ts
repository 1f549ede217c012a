// A whole turn of the built executable against the Messages API on loopback.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createStage } from "../support/executable.ts";
import { sendEvents, sendJson, startProviderServer } from "../support/provider-server.ts";
import { outline } from "../support/running-server.ts";

function messageEvents(
	stopReason: string,
	...blocks: readonly (readonly [start: object, ...deltas: object[]])[]
): string {
	const usage = { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 1 };
	return [
		{ type: "message_start", message: { id: "msg_1", usage } },
		...blocks.flatMap(([start, ...deltas], index) => [
			{ type: "content_block_start", index, content_block: start },
			...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
			{ type: "content_block_stop", index },
		]),
		{ type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 7 } },
		{ type: "message_stop" },
	]
		.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
		.join("");
}

async function startProvider() {
	const provider = await startProviderServer();
	onTestFinished(() => provider.close());
	const config = JSON.stringify({
		default_model: "m",
		default_thinking: true,
		models: { m: { provider: "p", model: "claude-sonnet-5", max_context_size: 200_000, capabilities: ["thinking"] } },
		providers: { p: { type: "anthropic", base_url: provider.url, api_key: "sk-test-0123456789abcdef" } },
	});
	return { provider, config };
}

it("streams an answer with a thought, runs its tool and sends both back", async () => {
	const { provider, config } = await startProvider();
	const stage = createStage();
	writeFileSync(path.join(stage.workDir, "a.txt"), "hello\n");
	provider.answerNext(
		sendEvents(
			messageEvents(
				"tool_use",
				[
					{ type: "thinking", thinking: "", signature: "" },
					{ type: "thinking_delta", thinking: "Look first." },
					{ type: "signature_delta", signature: "c2ln" },
				],
				[
					{ type: "tool_use", id: "toolu_1", name: "ReadFile", input: {} },
					{ type: "input_json_delta", partial_json: '{"path":' },
					{ type: "input_json_delta", partial_json: '"a.txt"}' },
				],
			),
			{ chunkSize: 7 },
		),
	);
	provider.answerNext(
		sendEvents(
			messageEvents("end_turn", [
				{ type: "text", text: "" },
				{ type: "text_delta", text: "It says hello." },
			]),
		),
	);
	const server = stage.serve("--config", config, "--wire");
	server.initialize();
	await server.response("initialize");
	server.prompt("What is in a.txt?");
	const lines = await server.readUntil((line) => line.id === "prompt");
	expect(outline(lines)).toEqual([
		"TurnBegin",
		"StepBegin",
		"ContentPart",
		"ContentPart",
		"ToolCall",
		"ToolCallPart",
		"ToolCallPart",
		"StatusUpdate",
		"ToolResult",
		"StepBegin",
		"ContentPart",
		"StatusUpdate",
		"TurnEnd",
		"finished",
	]);
	expect(lines.find((line) => line.params?.type === "StatusUpdate")?.params?.payload).toMatchObject({
		context_tokens: 30,
		token_usage: { input_other: 20, output: 7, input_cache_read: 10, input_cache_creation: 0 },
		message_id: "msg_1",
	});
	expect(provider.requests[1]?.headers["x-api-key"]).toBe("sk-test-0123456789abcdef");
	expect(provider.requests[1]?.body).toMatchObject({
		thinking: { type: "adaptive" },
		messages: [
			{ role: "user", content: [{ text: "What is in a.txt?" }] },
			{
				role: "assistant",
				content: [
					{ type: "thinking", thinking: "Look first.", signature: "c2ln" },
					{ type: "tool_use", id: "toolu_1", name: "ReadFile", input: { path: "a.txt" } },
				],
			},
			{
				role: "user",
				content: [{ type: "tool_result", tool_use_id: "toolu_1", content: expect.stringContaining("hello") }],
			},
		],
	});
	server.endInput();
	expect(await server.exited).toBe(0);
});

it("tells the provider's own words and no key when it refuses", async () => {
	const { provider, config } = await startProvider();
	const stage = createStage();
	const message = "invalid x-api-key sk-test-0123456789abcdef";
	provider.answerNext(sendJson(401, {}, { type: "error", error: { type: "authentication_error", message } }));
	const server = stage.serve("--config", config, "--wire");
	server.prompt("hello");
	const { error } = await server.response("prompt");
	expect(error?.code).toBe(-32003);
	expect(error?.message).toContain("invalid x-api-key");
	expect(error?.message).not.toContain("0123456789abcdef");
	server.endInput();
	expect(await server.exited).toBe(0);
});
