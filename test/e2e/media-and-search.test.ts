// The built executable shows a video to a Kimi model and searches the web, both on loopback.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { sendEvents, sendJson } from "../support/models/provider-server.ts";
import { createProviderStage, startProvider } from "../support/models/provider-stage.ts";

const mp4 = Buffer.from("\0\0\0\x18ftypisom\0\0\x02\0isomiso2", "latin1");

function answer(delta: object): string {
	const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "kimi-k2.6" };
	return [
		{ ...head, choices: [{ index: 0, delta, finish_reason: null }] },
		{ ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
	]
		.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
		.concat("data: [DONE]\n\n")
		.join("");
}

function calls(...names: readonly (readonly [name: string, input: object])[]): string {
	const toolCalls = names.map(([name, input], index) => ({
		index,
		id: `call_${index}`,
		type: "function",
		function: { name, arguments: JSON.stringify(input) },
	}));
	return answer({ tool_calls: toolCalls });
}

it("uploads the video, refers to it in the next request, and shows what the search service found", async () => {
	const service = await startProvider();
	const { provider, stage, serve } = await createProviderStage(
		{
			type: "kimi",
			model: "kimi-k2.6",
			modelSettings: { capabilities: ["video_in", "thinking"] },
			settings: {
				services: {
					moonshot_search: {
						base_url: `${service.url}/search`,
						api_key: "sk-search-0123456789",
						custom_headers: { "x-team": "blue" },
					},
				},
			},
		},
		"/v1",
	);
	writeFileSync(path.join(stage.workDir, "clip.mp4"), mp4);
	provider.answerNext(sendEvents(calls(["ReadMediaFile", { path: "clip.mp4" }])));
	provider.answerNext(sendJson(200, {}, { id: "file-42", object: "file", status: "ready" }));
	provider.answerNext(sendEvents(calls(["SearchWeb", { query: "what is in it", limit: 1 }])));
	provider.answerNext(sendEvents(answer({ content: "A cat." })));
	service.answerNext(sendJson(200, {}, { search_results: [{ title: "Cats", url: "https://example.org/cats" }] }));
	const server = serve();
	server.initialize();
	await server.response("initialize");
	server.prompt("What is in clip.mp4?");
	const lines = await server.readUntil((line) => line.id === "prompt");
	const results = lines.filter((line) => line.params?.type === "ToolResult").map((line) => line.params?.payload);
	expect(results).toMatchObject([
		{
			return_value: {
				is_error: false,
				output: [
					{ text: `<video path="${path.join(stage.workDir, "clip.mp4")}">` },
					{ type: "video_url", video_url: { url: "ms://file-42" } },
					{ text: "</video>" },
				],
			},
		},
		{
			return_value: {
				is_error: false,
				output: "Title: Cats\nDate: \nURL: https://example.org/cats\nSummary: \n",
				message: "Found 1 result.",
			},
		},
	]);
	expect(provider.requests.map((request) => request.path)).toEqual([
		"/v1/chat/completions",
		"/v1/files",
		"/v1/chat/completions",
		"/v1/chat/completions",
	]);
	expect(provider.requests[0]?.body).toMatchObject({
		tools: expect.arrayContaining(
			["ReadMediaFile", "SearchWeb"].map((name) => ({ type: "function", function: expect.objectContaining({ name }) })),
		),
	});
	expect(provider.requests[1]?.body).toContain(mp4.toString("latin1"));
	expect(JSON.stringify(provider.requests[2]?.body)).toContain(
		'{"type":"text","text":"Media returned by call_0:"},{"type":"video_url","video_url":{"url":"ms://file-42"}}',
	);
	expect(service.requests).toMatchObject([
		{
			path: "/search",
			headers: {
				authorization: "Bearer sk-search-0123456789",
				"user-agent": expect.stringMatching(/^agentwire\//),
				"x-team": "blue",
			},
			body: { text_query: "what is in it", limit: 1, enable_page_crawling: false, timeout_seconds: 30 },
		},
	]);
	server.endInput();
	expect(await server.exited).toBe(0);
});

it("offers neither to a model of words alone without a search service", async () => {
	const { provider, serve } = await createProviderStage({ type: "kimi", model: "some-model" }, "/v1");
	provider.answerNext(sendEvents(answer({ content: "Hello." })));
	const server = serve();
	server.prompt("Hello");
	await server.response("prompt");
	expect(JSON.stringify(provider.requests[0]?.body)).toContain('"ReadFile"');
	expect(JSON.stringify(provider.requests[0]?.body)).not.toMatch(/ReadMediaFile|SearchWeb/);
});
