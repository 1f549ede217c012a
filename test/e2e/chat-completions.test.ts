// A whole turn of the built executable against an OpenAI-compatible endpoint on loopback.
import { expect, it } from "vitest";
import { outline } from "../support/executable/running-server.ts";
import { sendEvents } from "../support/models/provider-server.ts";
import {
	answeredAboutFile,
	askAboutFile,
	askUnsuccessfully,
	createProviderStage,
	firstStatus,
	type ProvidedModel,
} from "../support/models/provider-stage.ts";

const compatible: ProvidedModel = { type: "openai_legacy", model: "some-model" };

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
	const staged = await createProviderStage(compatible, "/v1");
	const call = { index: 0, id: "call_1", type: "function", function: { name: "ReadFile", arguments: "" } };
	const { lines, code } = await askAboutFile(
		staged,
		chunks(
			{ role: "assistant", content: "" },
			{ reasoning_content: "Look first." },
			{ content: "Reading…" },
			{ tool_calls: [call] },
			{ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
			{ tool_calls: [{ index: 0, function: { arguments: '"a.txt"}' } }] },
		),
		chunks({ content: "It says hello." }),
	);
	expect([outline(lines), code]).toEqual([answeredAboutFile, 0]);
	expect(firstStatus(lines)).toMatchObject({
		context_tokens: 30,
		token_usage: { input_other: 20, output: 7, input_cache_read: 10, input_cache_creation: 0 },
		message_id: "chatcmpl-1",
	});
	const { requests } = staged.provider;
	expect(requests).toHaveLength(2);
	expect(requests[0]?.headers["user-agent"]).toMatch(/^agentwire\//);
	expect(requests[0]?.headers["authorization"]).toBe("Bearer sk-test-0123456789abcdef");
	expect(requests[1]?.body).toMatchObject({
		model: "some-model",
		stream: true,
		messages: [
			{ role: "system" },
			{ role: "user", content: "What is in a.txt?" },
			{ role: "assistant", reasoning_content: "Look first.", content: "Reading…", tool_calls: [{ id: "call_1" }] },
			{ role: "tool", tool_call_id: "call_1", content: expect.stringContaining("hello") },
		],
	});
});

it("closes the provider's socket when the turn is cancelled", async () => {
	const { provider, serve } = await createProviderStage(compatible, "/v1");
	const events = chunks({ content: "Never done" });
	provider.answerNext(sendEvents(events.slice(0, events.indexOf("\n\n") + 2), { ending: "hang" }));
	const server = serve();
	server.prompt("hello");
	await server.message("ContentPart");
	server.request("cancel", "cancel");
	const lines = await server.readUntil((line) => line.id === "prompt");
	expect(outline(lines)).toEqual(["result", "TurnEnd", "cancelled"]);
	await provider.requests[0]?.closed;
	server.endInput();
	expect(await server.exited).toBe(0);
});

it("reports the provider's own words and no key when it refuses", async () => {
	const message = "Incorrect API key provided: sk-test-0123456789abcdef.";
	const { error, code } = await askUnsuccessfully(await createProviderStage(compatible, "/v1"), {
		error: { message, type: "invalid_request_error", param: null, code: "invalid_api_key" },
	});
	expect([error?.code, code]).toEqual([-32003, 0]);
	expect(error?.message).toContain("Incorrect API key provided");
	expect(error?.message).not.toContain("0123456789abcdef");
});
