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
import { modelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

const recordedStream = readProviderFixture("responses-stream.sse");
const settings = { ...plainModelSettings, providerType: "openai_responses", model: "gpt-5.2" } as const;
const origin = "openai:gpt-5.2";

const recordedParts = [
	think("Two facts "),
	think("needed."),
	seal(origin, "thought", { itemId: "rs_fx1", reasoningEncryptedContent: "gAAAAABfxFINAL==" }),
	text("Checking "),
	text("both…"),
	toolCall("call_aW1", "get_weather", ""),
	piece('{"city":'),
	piece('"Oslo"}'),
	toolCall("call_bI2", "read_image", ""),
	piece('{"path":"pic.png"}'),
];

const event = (fields: Record<string, unknown>) =>
	`event: ${String(fields["type"])}\ndata: ${JSON.stringify(fields)}\n\n`;
const created = event({ type: "response.created", response: { id: "r1", created_at: 1, model: "gpt-5.2" } });
const added = (item: unknown, index = 0) => event({ type: "response.output_item.added", output_index: index, item });
const done = (item: unknown, index = 0) => event({ type: "response.output_item.done", output_index: index, item });
const message = { type: "message", id: "m1", role: "assistant", content: [] };
const delta = (value: string) =>
	event({ type: "response.output_text.delta", item_id: "m1", output_index: 0, delta: value });
const completed = event({ type: "response.completed", response: { usage: null, incomplete_details: null } });

describeProvider("responses", {
	settings: { providerType: "openai_responses", model: "gpt-5.2" },
	stream: recordedStream,
	parts: recordedParts,
	last: { type: "done", usage: weatherUsage, messageId: "resp_fx1" },
	start: created + added(message),
	delta,
	end: done(message) + completed,
	hasOtherRoute: true,
	unknownEvent: 'event: response.keepalive\ndata: {"type":"response.keepalive","sequence_number":0}',
	errors: {
		"responses-errors.jsonl": {
			"400 context overflow": { kind: "overflow" },
			"overflow in stream": {
				kind: "overflow",
				statusCode: 400,
				message: "Your input exceeds the context window of this model.",
			},
			"flat error event": { kind: "status", statusCode: 500, message: "Failed." },
			failed: { kind: "status", statusCode: 429, message: "Try again in 2s." },
		},
	},
});

const tested = createModelSubject(settings, "/v1");
const { ask, sent } = tested;

describe("events of compatible servers", () => {
	it.each([
		["a text in one event", done({ ...message, content: [{ type: "output_text", text: "a" }] }), [text("a")]],
		["a refusal in several events", added(message) + delta("No.").replaceAll("output_text", "refusal"), [text("No.")]],
		[
			"plain reasoning",
			added({ type: "reasoning", id: "r", summary: [] }) +
				event({ type: "response.reasoning_text.delta", item_id: "r", output_index: 0, content_index: 0, delta: "t" }) +
				done({ type: "reasoning", id: "r", summary: [] }) +
				done({ ...message, content: [{ type: "output_text", text: "a" }] }, 1),
			[think("t"), seal(origin, "thought", { itemId: "r" }), text("a")],
		],
		[
			"a call in one event, without ids",
			done({ type: "function_call", name: "f", arguments: '{"a":1}' }),
			[toolCall("item_0", "f"), piece('{"a":1}')],
		],
		["an item of an unknown kind", done({ type: "hologram", id: "h" }) + added(message, 1), []],
	])("are parsed: %s", async (_name, events, parts) => {
		const filler = parts.length === 0 ? event({ type: "response.output_text.delta", output_index: 1, delta: "x" }) : "";
		const chunks = await ask(sendEvents(created + events + filler + completed));
		expect(partsOf(chunks)).toEqual(parts.length === 0 ? [text("x")] : parts);
		expect(chunks.at(-1)).toEqual({ type: "done", usage: null, messageId: "r1" });
	});

	it.each([
		["max_output_tokens", "The model used up all tokens of its answer before it said anything."],
		["content_filter", "The provider refused to answer (content_filter)."],
	])("report why there is no answer: %s", async (reason, expected) => {
		const end = event({ type: "response.incomplete", response: { incomplete_details: { reason } } });
		const { failure } = modelFailure("provider", expected);
		const refused = reason === "content_filter" ? { isRefused: true } : {};
		expect(await ask(sendEvents(created + end))).toEqual([{ type: "failed", failure: { ...failure, ...refused } }]);
		const chunks = await ask(sendEvents(created + added(message) + delta("a") + end));
		const truncated = { type: "done", end: { kind: "truncated", reason } };
		const last = reason === "content_filter" ? { type: "failed", failure: { ...failure, ...refused } } : truncated;
		expect(chunks.at(-1)).toMatchObject(last);
	});

	it("leave the arguments of an interrupted call invalid", async () => {
		const item = { type: "function_call", id: "f1", call_id: "c1", name: "f", arguments: "", status: "in_progress" };
		const end = event({
			type: "response.incomplete",
			response: { incomplete_details: { reason: "max_output_tokens" } },
		});
		expect(partsOf(await ask(sendEvents(created + added(item) + end)))).toEqual([toolCall("c1", "f", ""), piece("{")]);
	});
});

describe("the request", () => {
	it("contains the tools and the settings", async () => {
		const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
		await ask(
			sendEvents(created + added(message) + delta("a") + completed),
			{
				thinking: "on",
				sampling: { ...settings.sampling, maxCompletionTokens: 4 },
				customHeaders: { "x-team": "blue" },
			},
			{ ...plainRequest, tools: [{ name: "get_weather", description: "Weather by city", parameters }] },
		);
		expect(tested.server.requests[0]).toMatchObject({
			path: "/v1/responses",
			headers: { authorization: "Bearer test-key-0123456789", "x-team": "blue", "user-agent": "agentwire/1.2.3" },
		});
		expect(tested.server.requests[0]?.body).toEqual({
			model: "gpt-5.2",
			stream: true,
			store: false,
			include: ["reasoning.encrypted_content"],
			instructions: "Be brief.",
			max_output_tokens: 16,
			reasoning: { effort: "high", summary: "auto" },
			parallel_tool_calls: true,
			prompt_cache_key: "session-1",
			input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
			tools: [{ type: "function", name: "get_weather", description: "Weather by city", parameters, strict: false }],
		});
	});

	it.each([
		["gpt-5.2", "off", { effort: "none" }],
		["gpt-5-mini", "off", { effort: "minimal" }],
		["gpt-5-codex", "off", { effort: "low" }],
		["gpt-5-pro", "off", undefined],
		["o4-mini", "off", { effort: "low" }],
		["gpt-4.1", "off", undefined],
		["gpt-4.1", "default", undefined],
		["gpt-5.2", "default", { summary: "auto" }],
		["qwen3", "on", { effort: "high", summary: "auto" }],
	] as const)("has the reasoning effort for %s: %s", async (model, thinking, reasoning) => {
		await ask(sendEvents(recordedStream), { model, thinking });
		expect([sent("model"), sent("reasoning")]).toEqual([model, reasoning]);
	});

	it("is, in the second step, the recorded one except for optional ids and states", async () => {
		const changes: Partial<ModelSettings> = {
			thinking: "on",
			capabilities: new Set(["image_in"]),
			sampling: { ...settings.sampling, maxCompletionTokens: 4096 },
		};
		const first = await ask(sendEvents(recordedStream), changes);
		const recorded = JSON.parse(readProviderFixture("responses-followup.json"));
		await ask(sendEvents(recordedStream), changes, continued(weatherRequest, first, weatherResults()));

		const { id: _id, type: _type, status: _status, ...spoken } = recorded.input[2];
		spoken.content[0] = { type: "output_text", text: "Checking both…" };
		recorded.input[2] = spoken;
		for (const position of [3, 4]) {
			const { id: _callId, status: _callStatus, ...called } = recorded.input[position];
			recorded.input[position] = called;
		}
		delete recorded.input.at(-1).output[1].detail;
		recorded.reasoning.effort = "high";
		expect(tested.server.requests[1]?.body).toEqual(recorded);
	});

	it("omits the reasoning of another model, and reasoning without an answer", async () => {
		const thought = (from: string) => ({
			...seal(from, "thought", { itemId: "r", reasoningEncryptedContent: "e" }),
			think: "t",
		});
		const hello = user(text("Hello"));
		const messages = [
			hello,
			assistant([thought("openai:gpt-4.1"), text("a")]),
			hello,
			assistant([thought(origin)]),
			hello,
		];
		await ask(sendEvents(recordedStream), {}, { ...plainRequest, messages });
		const said = { role: "user", content: [{ type: "input_text", text: "Hello" }] };
		expect(tested.server.requests[0]?.body).toMatchObject({
			input: [said, { role: "assistant", content: [{ type: "output_text", text: "a" }] }, said, said],
		});
	});
});
