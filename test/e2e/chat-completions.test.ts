// A whole turn of the built executable against an OpenAI-compatible endpoint on loopback.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createStage } from "../support/executable.ts";
import { type ProviderServer, sendEvents, sendJson, startProviderServer } from "../support/provider-server.ts";
import { outline } from "../support/running-server.ts";

async function startProvider(): Promise<ProviderServer> {
	const provider = await startProviderServer();
	onTestFinished(() => provider.close());
	return provider;
}

function configFor(provider: ProviderServer): string {
	return JSON.stringify({
		default_model: "m",
		models: { m: { provider: "p", model: "some-model", max_context_size: 100_000 } },
		providers: { p: { type: "openai_legacy", base_url: `${provider.url}/v1`, api_key: "sk-test-0123456789abcdef" } },
	});
}

function chunks(...deltas: readonly object[]): string {
	const lines = deltas.map((delta, index) => ({
		id: "chatcmpl-1",
		object: "chat.completion.chunk",
		created: 1,
		model: "some-model",
		choices: [{ index: 0, delta, finish_reason: index === deltas.length - 1 ? "stop" : null }],
	}));
	const usage = { prompt_tokens: 30, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 10 } };
	return [
		...lines,
		{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "some-model", choices: [], usage },
	]
		.map((line) => `data: ${JSON.stringify(line)}\n\n`)
		.concat("data: [DONE]\n\n")
		.join("");
}

it("streams an answer, runs its tool and sends the result back", async () => {
	const provider = await startProvider();
	const stage = createStage();
	writeFileSync(path.join(stage.workDir, "a.txt"), "hello\n");
	const call = { index: 0, id: "call_1", type: "function", function: { name: "ReadFile", arguments: "" } };
	provider.answerNext(
		sendEvents(
			chunks(
				{ role: "assistant", content: "" },
				{ reasoning_content: "Look first." },
				{ content: "Reading…" },
				{ tool_calls: [call] },
				{ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
				{ tool_calls: [{ index: 0, function: { arguments: '"a.txt"}' } }] },
			),
			{ chunkSize: 7 },
		),
	);
	provider.answerNext(sendEvents(chunks({ content: "It says hello." })));
	const server = stage.serve("--config", configFor(provider), "--wire");
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
		message_id: "chatcmpl-1",
	});
	expect(provider.requests).toHaveLength(2);
	expect(provider.requests[0]?.headers["user-agent"]).toMatch(/^agentwire\//);
	expect(provider.requests[0]?.headers["authorization"]).toBe("Bearer sk-test-0123456789abcdef");
	expect(provider.requests[1]?.body).toMatchObject({
		model: "some-model",
		stream: true,
		messages: [
			{ role: "system" },
			{ role: "user", content: "What is in a.txt?" },
			{ role: "assistant", reasoning_content: "Look first.", content: "Reading…", tool_calls: [{ id: "call_1" }] },
			{ role: "tool", tool_call_id: "call_1", content: expect.stringContaining("hello") },
		],
	});
	server.endInput();
	expect(await server.exited).toBe(0);
});

it("closes the provider's socket when the turn is cancelled", async () => {
	const provider = await startProvider();
	const stage = createStage();
	const events = chunks({ content: "Never done" });
	provider.answerNext(sendEvents(events.slice(0, events.indexOf("\n\n") + 2), { ending: "hang" }));
	const server = stage.serve("--config", configFor(provider), "--wire");
	server.prompt("hello");
	await server.message("ContentPart");
	server.request("cancel", "cancel");
	const lines = await server.readUntil((line) => line.id === "prompt");
	expect(outline(lines)).toEqual(["result", "TurnEnd", "cancelled"]);
	await provider.requests[0]?.closed;
	server.endInput();
	expect(await server.exited).toBe(0);
});

it("tells the provider's own words and no key when it refuses", async () => {
	const provider = await startProvider();
	const stage = createStage();
	const message = "Incorrect API key provided: sk-test-0123456789abcdef.";
	provider.answerNext(
		sendJson(401, {}, { error: { message, type: "invalid_request_error", param: null, code: "invalid_api_key" } }),
	);
	const server = stage.serve("--config", configFor(provider), "--wire");
	server.prompt("hello");
	const { error } = await server.response("prompt");
	expect(error?.code).toBe(-32003);
	expect(error?.message).toContain("Incorrect API key provided");
	expect(error?.message).not.toContain("0123456789abcdef");
	server.endInput();
	expect(await server.exited).toBe(0);
});
