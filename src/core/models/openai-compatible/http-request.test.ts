import { describe, expect, it } from "vitest";
import { text, think, toolCall } from "../../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import type { ContentPart } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { estimateTokens } from "../completion-cap.ts";
import { RequestFailure } from "../http/request-failure.ts";
import type { Capability, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { toBody, toEndpoint, toHeaders } from "./http-request.ts";
import { kimiFlavour } from "./kimi.ts";
import { openaiLegacyFlavour } from "./openai-legacy.ts";

const image = (url: string): ContentPart => ({ type: "image_url", image_url: { url, id: "ignored" } });
const call = (id: string, given: string | null) => toolCall(id, "f", given);

function request(...messages: HistoryEntry[]): ModelRequest {
	return { systemPrompt: "", tools: [], messages, cacheKey: "s1" };
}

const seeing: ReadonlySet<Capability> = new Set(["image_in", "video_in"]);
const kimi = (messages: HistoryEntry[], settings: Partial<ModelSettings> = {}) =>
	toBody(request(...messages), { ...plainModelSettings, capabilities: seeing, ...settings }, kimiFlavour);
const openai = (messages: HistoryEntry[], settings: Partial<ModelSettings> = {}) =>
	toBody(request(...messages), { ...plainModelSettings, capabilities: seeing, ...settings }, openaiLegacyFlavour);

describe("messages", () => {
	it("have media of tool results after all tool messages, in a following user message if there is one", () => {
		const asked: HistoryEntry = {
			role: "assistant",
			content: [],
			toolCalls: [call("a", null), call("b", "{}")],
		};
		const results: HistoryEntry[] = [
			{ role: "tool", toolCallId: "a", content: [text("one"), image("data:1"), text("two")] },
			{ role: "tool", toolCallId: "b", content: [text("three")] },
		];
		const media = [
			{ type: "text", text: "Image returned by a:" },
			{ type: "image_url", image_url: { url: "data:1" } },
		];
		const tools = [
			{ role: "tool", tool_call_id: "a", content: "one\ntwo" },
			{ role: "tool", tool_call_id: "b", content: "three" },
		];
		const assistant = {
			role: "assistant",
			content: null,
			tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
		};
		expect(openai([asked, ...results])["messages"]).toEqual([assistant, ...tools, { role: "user", content: media }]);
		expect(openai([asked, ...results, { role: "user", content: [text("go on")] }])["messages"]).toEqual([
			assistant,
			...tools,
			{ role: "user", content: [...media, { type: "text", text: "go on" }] },
		]);
		expect(openai([asked, ...results, { role: "assistant", content: [text("ok")] }])["messages"]).toEqual([
			assistant,
			...tools,
			{ role: "user", content: media },
			{ role: "assistant", content: "ok" },
		]);
	});

	it("have the tool name for kimi, and no empty content next to calls", () => {
		expect(
			kimi([
				{ role: "assistant", content: [], toolCalls: [call("a", '{"x": 1}')] },
				{ role: "tool", toolCallId: "a", content: [text("r")] },
			])["messages"],
		).toEqual([
			{
				role: "assistant",
				tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x": 1}' } }],
			},
			{ role: "tool", tool_call_id: "a", name: "f", content: "r" },
		]);
	});

	it("have no blank texts and no empty messages, which some servers refuse", () => {
		const answer: HistoryEntry = { role: "assistant", content: [text("ok")] };
		for (const messages of [kimi, openai].map((send) =>
			send([
				{ role: "user", content: [text("")] },
				{ role: "assistant", content: [think("t")] },
				{ role: "assistant", content: [text("\n")] },
				{ role: "user", content: [text(" "), image("data:1"), text("")] },
				answer,
				{ role: "user", content: [text(""), text("go on")] },
			]),
		)) {
			expect(messages["messages"]).toEqual([
				{ role: "user", content: [{ type: "image_url", image_url: { url: "data:1" } }] },
				{ role: "assistant", content: "ok" },
				{ role: "user", content: "go on" },
			]);
		}
	});

	it("have the last one as it is, which is what the model is to answer", () => {
		expect(openai([{ role: "user", content: [text(" ")] }])["messages"]).toEqual([{ role: "user", content: " " }]);
		expect(openai([{ role: "user", content: [] }])["messages"]).toEqual([{ role: "user", content: "" }]);
	});

	it("have a single text as a string, media as blocks, and no reasoning of other models", () => {
		expect(openai([{ role: "user", content: [text("a"), think("t")] }])["messages"]).toEqual([
			{ role: "user", content: "a" },
		]);
		const video: ContentPart = { type: "video_url", video_url: { url: "ms://1", id: null } };
		const audio: ContentPart = { type: "audio_url", audio_url: { url: "data:2", id: null } };
		expect(openai([{ role: "user", content: [text("a"), text("b"), video, audio] }])["messages"]).toEqual([
			{
				role: "user",
				content: [
					{ type: "text", text: "a" },
					{ type: "text", text: "b" },
					{ type: "video_url", video_url: { url: "ms://1" } },
					{ type: "audio_url", audio_url: { url: "data:2" } },
				],
			},
		]);
	});
});

describe("reasoning", () => {
	const silent: HistoryEntry = { role: "assistant", content: [text("x")], toolCalls: [call("a", "{}")] };
	const thinking: HistoryEntry = { role: "assistant", content: [think("t1"), text("x"), think("t2")] };
	const first = (body: ReturnType<typeof kimi>) => (Array.isArray(body["messages"]) ? body["messages"][0] : null);

	it("is sent back under the configured key, and not at all under an empty one", () => {
		expect(first(kimi([thinking]))).toEqual({ role: "assistant", reasoning_content: "t1t2", content: "x" });
		expect(openai([thinking])).toMatchObject({
			reasoning_effort: "medium",
			messages: [{ role: "assistant", reasoning_content: "t1t2", content: "x" }],
		});
		expect(first(openai([thinking], { reasoningKey: "reasoning" }))).toEqual({
			role: "assistant",
			reasoning: "t1t2",
			content: "x",
		});
		const without = openai([thinking], { reasoningKey: "" });
		expect(first(without)).toEqual({ role: "assistant", content: "x" });
		expect(without).not.toHaveProperty("reasoning_effort");
	});

	it("has a placeholder when kimi requires it", () => {
		expect(first(kimi([silent], { thinking: "on" }))).toHaveProperty("reasoning_content", " ");
		expect(first(kimi([silent], { capabilities: new Set(["thinking"]) }))).toHaveProperty("reasoning_content", " ");
		expect(first(kimi([silent]))).not.toHaveProperty("reasoning_content");
		expect(first(kimi([silent], { thinking: "off", capabilities: new Set(["thinking"]) }))).not.toHaveProperty(
			"reasoning_content",
		);
	});

	it("is empty where a server of a thinking model requires it, for earlier calls too", () => {
		const contentOf = (settings: Parameters<typeof openai>[1], messages = [silent]) =>
			first(openai(messages, settings))["reasoning_content"];
		expect(contentOf({ thinking: "on" })).toBe("");
		expect(contentOf({ capabilities: new Set(["thinking"]) })).toBe("");
		expect(contentOf({}, [silent, thinking])).toBe("");
		expect(contentOf({})).toBeUndefined();
		expect(contentOf({ thinking: "off", capabilities: new Set(["thinking"]) })).toBeUndefined();
		expect(contentOf({ thinking: "on", baseUrl: "https://api.openai.com/v1" })).toBeUndefined();
	});

	it("that is empty stays empty", () => {
		expect(first(kimi([{ role: "assistant", content: [think(""), text("x")] }]))).toEqual({
			role: "assistant",
			reasoning_content: "",
			content: "x",
		});
	});

	it("is switched on and off as the provider documents", () => {
		expect(kimi([], { thinking: "on" })["thinking"]).toEqual({ type: "enabled" });
		const sampling = { ...plainModelSettings.sampling, thinkingKeep: "all" };
		expect(kimi([], { thinking: "on", sampling })["thinking"]).toEqual({ type: "enabled", keep: "all" });
		expect(kimi([], { thinking: "off", sampling })["thinking"]).toEqual({ type: "disabled" });
		expect(kimi([])).not.toHaveProperty("thinking");
		expect(openai([], { thinking: "on" })["reasoning_effort"]).toBe("high");
		expect(openai([thinking], { thinking: "off" })).not.toHaveProperty("reasoning_effort");
	});
});

describe("the body", () => {
	it("has only the configured fields", () => {
		expect(openai([])).toEqual({
			model: "kimi-k2.6",
			stream: true,
			stream_options: { include_usage: true },
			messages: [],
		});
		const sampling = { temperature: 0, topP: 0.5, maxCompletionTokens: 10, thinkingKeep: null };
		expect(openai([], { sampling })).toMatchObject({ temperature: 0, top_p: 0.5, max_completion_tokens: 10 });
	});

	it("contains the tools, kimi's own among them", () => {
		const tools = [
			{ name: "f", description: "d", parameters: { type: "object", properties: { a: {} } } },
			{ name: "$web_search", description: "d", parameters: {} },
		];
		const asked = { ...request(), tools };
		expect(toBody(asked, plainModelSettings, kimiFlavour)["tools"]).toEqual([
			{
				type: "function",
				function: {
					name: "f",
					description: "d",
					parameters: { type: "object", properties: { a: { type: "string" } } },
				},
			},
			{ type: "builtin_function", function: { name: "$web_search" } },
		]);
		expect(toBody(asked, plainModelSettings, openaiLegacyFlavour)["tools"]).toEqual(
			tools.map((tool) => ({ type: "function", function: tool })),
		);
	});
});

describe("the automatic completion cap", () => {
	const capped = (wanted: number | null, knownTokens?: number) => {
		const sampling = { ...plainModelSettings.sampling, maxCompletionTokens: wanted };
		const asked = { ...request({ role: "user", content: [text("abcde")] }), ...(knownTokens ? { knownTokens } : {}) };
		return toBody(asked, { ...plainModelSettings, maxContextSize: 10_000, sampling }, kimiFlavour)[
			"max_completion_tokens"
		];
	};

	it("leaves space for the input and a reserve", () => {
		expect(capped(null)).toBe(10_000 - 2 - 1024);
		expect(capped(500)).toBe(500);
		expect(capped(9_500)).toBe(10_000 - 2 - 1024);
		expect(capped(null, 5_000)).toBe(10_000 - 5_000 - 1024);
		expect(capped(null, 20_000)).toBe(1);
		expect(capped(0)).toBeUndefined();
		expect(capped(-1)).toBeUndefined();
	});

	it("estimates the input", () => {
		expect(
			estimateTokens({
				systemPrompt: "abcde",
				tools: [{ name: "f", description: "abcd", parameters: {} }],
				messages: [
					{ role: "user", content: [text("é😀ab"), image("data:xxxxxxxxxxxxxxxxxxxxx"), think("abc")] },
					{ role: "assistant", content: [], toolCalls: [call("ignored", "12345678")] },
				],
				cacheKey: "",
			}),
		).toBe(2 + (1 + 1 + 1) + (3 + 2000 + 1) + (1 + 2));
	});
});

describe("address and headers", () => {
	it.each([
		["https://api.moonshot.ai/v1", "https://api.moonshot.ai/v1/chat/completions"],
		["https://h/v1/", "https://h/v1/chat/completions"],
		["http://h:8080", "http://h:8080/chat/completions"],
		["https://h/x?api-version=1", "https://h/x/chat/completions?api-version=1"],
	])("is derived from %s: %s", (base, endpoint) => {
		expect(toEndpoint(base).href).toBe(endpoint);
	});

	it.each(["", "h/v1", "file:///x", "https://me:pass@h/v1"])("is refused for the base %j", (base) => {
		expect(() => toEndpoint(base)).toThrow(RequestFailure);
	});

	it("contain the key, the client's name and custom headers, which override the others", () => {
		const settings = {
			...plainModelSettings,
			clientName: () => "ide (x)\u00e9 2.0",
			customHeaders: { Accept: "a", "x-b": "c" },
		};
		expect(Object.fromEntries(toHeaders(settings))).toEqual({
			accept: "a",
			authorization: "Bearer test-key-0123456789",
			"content-type": "application/json",
			"user-agent": "agentwire/1.2.3 (ide x 2.0)",
			"x-b": "c",
		});
		expect(Object.fromEntries(toHeaders({ ...plainModelSettings, apiKey: "" }))).toEqual({
			accept: "text/event-stream",
			"content-type": "application/json",
			"user-agent": "agentwire/1.2.3",
		});
	});

	it("do not quote a header that HTTP forbids", () => {
		const settings = { ...plainModelSettings, customHeaders: { "x-key": "secret\nvalue" } };
		expect(() => toHeaders(settings)).toThrow(
			"The provider's api_key or custom_headers contain characters that HTTP does not allow.",
		);
	});
});
