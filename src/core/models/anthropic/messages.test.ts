// The adapter with a provider on loopback: the recorded stream, the second request, and additions of newer or foreign
// servers that the reference does not show.
import { describe, expect, it } from "vitest";
import { describeProvider } from "../../../../test/contracts/provider-contract.ts";
import {
	assistant,
	continued,
	partsOf,
	piece,
	plainRequest,
	seal,
	text,
	think,
	toolCall,
	user,
	weatherRequest,
	weatherResults,
	weatherUsage,
} from "../../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { readProviderFixture, sendEvents } from "../../../../test/support/models/provider-server.ts";
import { type ModelChunk, type ModelRequest, modelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { toRequest } from "./request.ts";

const recordedStream = readProviderFixture("anthropic-stream.sse");
const settings = { providerType: "anthropic", model: "claude-sonnet-5" } as const;

const thought = (retained: Record<string, string>) => seal("anthropic:claude-sonnet-5", "thought", retained);

function event(data: Record<string, unknown>): string {
	return `event: ${data["type"]}\ndata: ${JSON.stringify(data)}\n\n`;
}

const start = event({ type: "message_start", message: { id: "m1", usage: { input_tokens: 7, output_tokens: 1 } } });
const block = (index: number, content_block: Record<string, unknown>) =>
	event({ type: "content_block_start", index, content_block });
const delta = (index: number, content: Record<string, unknown>) =>
	event({ type: "content_block_delta", index, delta: content });
const stop = (index: number) => event({ type: "content_block_stop", index });
const finish = (stop_reason: string | null, others: Record<string, unknown> = {}) =>
	event({ type: "message_delta", delta: { stop_reason, ...others }, usage: { output_tokens: 3 } }) +
	event({ type: "message_stop" });
const textBlock = (index: number, value: string) =>
	block(index, { type: "text", text: "" }) + delta(index, { type: "text_delta", text: value }) + stop(index);

const done: ModelChunk = {
	type: "done",
	usage: { input_other: 7, output: 3, input_cache_read: 0, input_cache_creation: 0 },
	messageId: "m1",
};

describeProvider("anthropic", {
	settings,
	stream: recordedStream,
	parts: [
		think("Two facts "),
		think("needed."),
		thought({ signature: "EqFxSig0==" }),
		thought({ redactedData: "EmFxRedacted==" }),
		text("Checking both…"),
		toolCall("toolu_aW1", "get_weather"),
		piece('{"city": "Os'),
		piece('lo"}'),
		toolCall("toolu_bI2", "read_image"),
		piece('{"path": "pic.png"}'),
	],
	last: { type: "done", usage: weatherUsage, messageId: "msg_fx1" },
	start: start + block(0, { type: "text", text: "" }),
	delta: (value) => delta(0, { type: "text_delta", text: value }),
	end: stop(0) + finish("end_turn"),
	unknownEvent: 'event: novelty\ndata: {"type":"novelty","index":0}',
	errors: {
		"anthropic-errors.jsonl": {
			"400 context overflow": { kind: "overflow" },
			"400 input plus max_tokens": { kind: "overflow" },
			"413": { kind: "overflow" },
			"429": { retryAfter: 12_000 },
			"429 spend limit, never retry": { kind: "provider", statusCode: 429 },
			"mid-stream": { kind: "status", statusCode: 529, message: "Overloaded" },
		},
	},
});

const tested = createModelSubject(settings);
const { ask } = tested;

describe("the second request", () => {
	const weatherTool = {
		name: "get_weather",
		description: "Weather by city",
		parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
	};
	const imageTool = {
		name: "read_image",
		description: "Load an image file",
		parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
	};
	const asked: ModelRequest = { ...weatherRequest, tools: [weatherTool, imageTool] };
	const thinking: Partial<ModelSettings> = {
		thinking: "on",
		capabilities: new Set(["thinking", "image_in"]),
		sampling: { ...plainModelSettings.sampling, maxCompletionTokens: 16_000 },
	};

	const afterTools = (chunks: readonly ModelChunk[]) => continued(asked, chunks, weatherResults());

	function recorded(name: string) {
		const { tool_choice: _, ...body } = JSON.parse(readProviderFixture(name));
		return { ...body, output_config: { effort: "high" }, metadata: { user_id: "session-41" } };
	}

	it("is the recorded one, except for our effort and the session's id", async () => {
		const first = await ask(sendEvents(recordedStream), thinking, asked);
		await ask(sendEvents(start + finish("end_turn")), thinking, afterTools(first));
		expect(tested.server.requests.map(({ body }) => body)).toEqual([
			recorded("anthropic-request.json"),
			recorded("anthropic-followup.json"),
		]);
	});

	it("has a budget for a model without adaptive thinking", async () => {
		const older = { ...thinking, model: "claude-sonnet-4-5", sampling: plainModelSettings.sampling };
		await ask(sendEvents(recordedStream), older, asked);
		const { output_config: _, ...body } = recorded("anthropic-request.json");
		expect(tested.server.requests[0]?.body).toEqual({
			...body,
			model: "claude-sonnet-4-5",
			max_tokens: 50_000,
			thinking: { type: "enabled", budget_tokens: 32_000 },
		});
		expect(tested.server.requests[0]?.headers["anthropic-beta"]).toBe("interleaved-thinking-2025-05-14");
	});

	it("omits the reasoning of another model, and all of it while thinking is off", async () => {
		const first = await ask(sendEvents(recordedStream), thinking, asked);
		const second = afterTools(first);
		await ask(sendEvents(start + finish("end_turn")), { ...thinking, model: "claude-opus-5" }, second);
		await ask(sendEvents(start + finish("end_turn")), { ...thinking, thinking: "off" }, second);
		for (const request of tested.server.requests.slice(1)) {
			const types = JSON.stringify(request.body).match(/"type":"(redacted_)?thinking"|EqFxSig0/g);
			expect(types).toBeNull();
		}
		expect(tested.server.requests[1]?.body).toMatchObject({ thinking: { type: "adaptive" } });
		expect(tested.server.requests[2]?.body).toMatchObject({ thinking: { type: "disabled" } });
	});

	it("switches thinking off in a turn that began without reasoning of this model", async () => {
		const second = afterTools(await ask(sendEvents(recordedStream), thinking, asked));
		await ask(sendEvents(start + finish("end_turn")), { ...thinking, model: "claude-opus-4-5" }, second);
		expect(tested.server.requests[1]?.body).not.toHaveProperty("thinking");
	});

	it("has the documented path and headers", async () => {
		await ask(sendEvents(recordedStream), { customHeaders: { "X-Team": "blue" }, clientName: () => "ide 2.0" });
		const { path, headers } = tested.server.requests[0] ?? {};
		expect(path).toBe("/v1/messages");
		expect(headers).toMatchObject({
			"x-api-key": "test-key-0123456789",
			"anthropic-version": "2023-06-01",
			"user-agent": "agentwire/1.2.3 (ide 2.0)",
			"x-team": "blue",
		});
		expect(headers).not.toHaveProperty("anthropic-beta");
		expect(headers).not.toHaveProperty("authorization");
	});
});

describe("events of other versions and compatible servers", () => {
	it.each([
		[
			"empty reasoning, stored for its signature",
			block(0, { type: "thinking", thinking: "", signature: "" }) +
				delta(0, { type: "signature_delta", signature: "s" }) +
				stop(0) +
				textBlock(1, "a"),
			[thought({ signature: "s" }), text("a")],
		],
		[
			"unknown blocks, deltas and keys",
			block(0, { type: "server_tool_use", id: "x", name: "web_search", input: {} }) +
				delta(0, { type: "input_json_delta", partial_json: '{"q":1}' }) +
				stop(0) +
				block(1, { type: "novelty" }) +
				delta(1, { type: "text_delta", text: "hidden" }) +
				stop(1) +
				block(2, { type: "text", text: "", citations: null }) +
				delta(2, { type: "novelty_delta", text: "hidden" }) +
				delta(2, { type: "citations_delta", citation: {} }) +
				delta(2, { type: "text_delta", text: "a" }) +
				stop(2),
			[text("a")],
		],
		[
			"text and reasoning in the start of their blocks",
			block(0, { type: "thinking", thinking: "t" }) + stop(0) + block(1, { type: "text", text: "a" }) + stop(1),
			[think("t"), thought({}), text("a")],
		],
		[
			"a call of an unknown kind with its input at the start",
			block(0, { type: "tool_use", id: "c", name: "f", input: { a: 1 }, caller: { type: "novelty" } }) + stop(0),
			[toolCall("c", "f"), piece('{"a":1}')],
		],
		[
			"a call without arguments",
			block(0, { type: "tool_use", id: "c", name: "f", input: {} }) +
				delta(0, { type: "input_json_delta", partial_json: "" }) +
				stop(0),
			[toolCall("c", "f")],
		],
		["the end marker of another protocol", `${textBlock(0, "a")}data: [DONE]\n\n`, [text("a")]],
	])("are parsed: %s", async (_name, events, parts) => {
		const chunks = await ask(sendEvents(start + events + finish("end_turn")));
		expect([partsOf(chunks), chunks.at(-1)]).toEqual([parts, done]);
	});

	it("orders the pieces of interleaved calls after their calls", async () => {
		const tool = (index: number) => block(index, { type: "tool_use", id: `c${index}`, name: "f", input: {} });
		const input = (index: number, partial_json: string) => delta(index, { type: "input_json_delta", partial_json });
		const events =
			tool(0) + tool(1) + input(0, '{"a"') + input(1, '{"b"') + input(0, ":1}") + stop(0) + input(1, ":2}") + stop(1);
		const chunks = await ask(sendEvents(start + events + finish("tool_use")));
		expect(partsOf(chunks)).toEqual([
			toolCall("c0", "f"),
			piece('{"a"'),
			piece(":1}"),
			toolCall("c1", "f", '{"b"'),
			piece(":2}"),
		]);
	});

	it.each([
		["interrupted within its arguments", [delta(0, { type: "input_json_delta", partial_json: '{"a":' })], '{"a":'],
		["interrupted before its arguments", [], "{"],
	])("leaves the arguments invalid for a call that was %s", async (_name, deltas, given) => {
		const tool = block(0, { type: "tool_use", id: "c", name: "f", input: {} });
		const chunks = await ask(sendEvents(start + tool + deltas.join("") + stop(0) + finish("max_tokens")));
		expect(partsOf(chunks)).toEqual([toolCall("c", "f"), piece(given)]);
		expect(chunks.at(-1)).toEqual({ ...done, end: { kind: "truncated", reason: "max_tokens" } });
	});

	it("reports an overflow when the full window leaves no answer, so that a compaction follows", async () => {
		const message = "The conversation leaves no room for an answer in the model's context window.";
		const end = finish("model_context_window_exceeded");
		expect(await ask(sendEvents(start + end))).toEqual([modelFailure("overflow", message)]);
		const truncated = { kind: "truncated", reason: "model_context_window_exceeded" };
		expect((await ask(sendEvents(start + textBlock(0, "a") + end))).at(-1)).toEqual({ ...done, end: truncated });
	});

	it.each([
		[
			"a refusal",
			finish("refusal", { stop_details: { type: "refusal", category: "x", explanation: "Not that." } }),
			"The provider refused to answer (refusal: Not that.).",
		],
		["a refusal without an explanation", finish("refusal"), "The provider refused to answer (refusal)."],
		["exhausted tokens", finish("max_tokens"), "The model used up all tokens of its answer before it said anything."],
	])("reports why there is no answer: %s", async (_name, end, message) => {
		const { failure } = modelFailure("provider", message);
		const refused = message.includes("refused") ? { isRefused: true } : {};
		const failed = { type: "failed", failure: { ...failure, ...refused } };
		expect(await ask(sendEvents(start + end))).toEqual([failed]);
		const chunks = await ask(sendEvents(start + textBlock(0, "a") + end));
		const truncated = { ...done, end: { kind: "truncated", reason: "max_tokens" } };
		expect([partsOf(chunks), chunks.at(-1)]).toEqual([[text("a")], message.includes("refused") ? failed : truncated]);
	});

	it("says that the provider paused", async () => {
		const chunks = await ask(sendEvents(start + textBlock(0, "a") + finish("pause_turn")));
		expect(chunks.at(-1)).toEqual({ ...done, end: { kind: "paused", reason: "pause_turn" } });
	});
});

describe("reasoning of other servers with this API", () => {
	const thinking = (fields: Record<string, unknown>) =>
		block(0, { type: "thinking", thinking: "", ...fields }) +
		delta(0, { type: "thinking_delta", thinking: "t" }) +
		stop(0);
	const tool = block(1, { type: "tool_use", id: "c1", name: "f", input: {} }) + stop(1);

	it.each([
		["without a signature", {}, {}],
		["with an empty one", { signature: "" }, { signature: "" }],
	])("is sent back as it came: %s", async (_name, fields, signature) => {
		const model = { model: "minimax-m2", thinking: "on" } as const;
		const first = await ask(sendEvents(start + thinking(fields) + tool + finish("tool_use")), model);
		await ask(sendEvents(start + finish("end_turn")), model, continued(plainRequest, first, [[text("r")]]));
		expect(tested.server.requests[1]?.body).toMatchObject({ thinking: { type: "enabled" } });
		expect(tested.sent("messages")).toMatchObject([
			{ role: "user" },
			{ role: "assistant", content: [{ type: "thinking", thinking: "t", ...signature }, { type: "tool_use" }] },
			{ role: "user" },
		]);
		expect(JSON.stringify(tested.sent("messages")).includes("signature")).toBe("signature" in fields);
	});

	it("is not sent to Anthropic, which refuses it", () => {
		const encrypted = JSON.stringify({ from: "anthropic:claude-sonnet-5", of: "thought", kept: {} });
		const said = assistant([think("t", encrypted), text("a")]);
		const request = { ...plainRequest, messages: [user(text("q")), said, user(text("q"))] };
		const given = { ...plainModelSettings, ...settings, baseUrl: "https://api.anthropic.com" };
		expect(JSON.stringify(toRequest(request, given).body)).not.toContain("thinking");
		const other = { ...given, baseUrl: "https://api.example.com/anthropic" };
		expect(JSON.stringify(toRequest(request, other).body)).toContain('"thinking":"t"');
	});
});

describe("usage", () => {
	const started = (usage: unknown) => event({ type: "message_start", message: { id: "m1", usage } });
	const ended = (usage: unknown) =>
		event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }) + event({ type: "message_stop" });

	it.each([
		[
			"with the tokens read from and written to the cache",
			started({ input_tokens: 5, cache_creation_input_tokens: 30, cache_read_input_tokens: 20, output_tokens: 1 }) +
				ended({ output_tokens: 9 }),
			{ input_other: 5, output: 9, input_cache_read: 20, input_cache_creation: 30 },
		],
		[
			"from the last count",
			started({ input_tokens: 5, cache_read_input_tokens: 1 }) +
				event({ type: "message_delta", delta: {}, usage: { output_tokens: 4, input_tokens: 6 } }) +
				ended({ output_tokens: 9, input_tokens: null, cache_read_input_tokens: 2 }),
			{ input_other: 6, output: 9, input_cache_read: 2, input_cache_creation: 0 },
		],
		[
			"where the end counts no output",
			started({ input_tokens: 5, output_tokens: 2 }) + ended(null),
			{ input_other: 5, output: 2, input_cache_read: 0, input_cache_creation: 0 },
		],
		["as unknown without any count", started(null) + ended(null), null],
	])("is read %s", async (_name, events, usage) => {
		const chunks = await ask(sendEvents(events));
		expect(chunks).toEqual([{ type: "done", usage, messageId: "m1" }]);
	});
});
