// The adapter with a provider on loopback: the recorded streams, second requests, and what is particular to chat
// completions: usage in several places, the quirks of compatible servers, errors of any form, an end without an end
// mark.
import { describe, expect, it } from "vitest";
import { describeProvider, type ProviderSubject } from "../../../../test/contracts/provider-contract.ts";
import {
	continued,
	partsOf,
	piece,
	plainRequest,
	text,
	think,
	toolCall,
	weatherRequest,
	weatherResults,
	weatherUsage,
} from "../../../../test/support/models/model-conversation.ts";
import { createManualClock, plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import {
	type AnswerRequest,
	readProviderFixture,
	sendEvents,
} from "../../../../test/support/models/provider-server.ts";
import { createRefusal, type ModelChunk, modelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

function event(delta: unknown, others: Record<string, unknown> = {}): string {
	return `data: ${JSON.stringify({ id: "m1", choices: [{ index: 0, delta, ...others }] })}\n\n`;
}

const finish = event({}, { finish_reason: "stop" });
const done: ModelChunk = { type: "done", usage: null, messageId: "m1" };

/** The same in both flavours. */
const protocol = {
	// The usage and the end mark.
	spareEvents: 2,
	start: "",
	delta: (content: string) => event({ content }),
	end: finish,
	unknownEvent: 'event: novelty\ndata: {"object":"novelty"}',
	errors: {
		"openai-errors.jsonl": {
			"400 context overflow": { kind: "overflow" },
			// The more precise of two headers counts.
			"429 rate": { retryAfter: 1500 },
			"429 money, never retry": { kind: "provider", statusCode: 429 },
			"503": { retryAfter: 5000 },
			"mid-stream": { kind: "status", statusCode: 500, message: "The server had an error." },
		},
		"kimi-errors.jsonl": {
			"400 context overflow": { kind: "overflow" },
			"429 rate": { retryAfter: 1000 },
			"429 money": { kind: "provider", statusCode: 429 },
		},
		"compat-errors.jsonl": {
			"vllm overflow": { kind: "overflow" },
			"vllm overflow old": { kind: "overflow" },
			"llama.cpp overflow": { kind: "overflow" },
			"lmstudio overflow": {
				kind: "overflow",
				message: "The number of tokens to keep from the initial prompt is greater than the context length.",
			},
		},
	},
} satisfies Partial<ProviderSubject>;

const kimi: ProviderSubject = {
	...protocol,
	settings: { providerType: "kimi", model: "kimi-k2.6" },
	stream: readProviderFixture("kimi-stream.sse"),
	parts: [
		think("Two facts "),
		think("are needed."),
		text("Checking both…"),
		toolCall("get_weather:0", "get_weather", ""),
		piece('{"city":"Oslo"}'),
		toolCall("read_image:1", "read_image", '{"path":'),
		piece('"pic.png"}'),
	],
	last: {
		type: "done",
		usage: { input_other: 132, output: 80, input_cache_read: 768, input_cache_creation: 0 },
		messageId: "chatcmpl-k1",
	},
};

const openai: ProviderSubject = {
	...protocol,
	settings: { providerType: "openai_legacy", model: "gpt-5.2" },
	stream: readProviderFixture("openai-chat-stream.sse"),
	parts: [
		text("Checking "),
		text("both…"),
		toolCall("call_aW1", "get_weather", ""),
		piece('{"city":'),
		piece('"Oslo"}'),
		toolCall("call_bI2", "read_image", ""),
		piece('{"path":"pic.png"}'),
	],
	last: { type: "done", usage: weatherUsage, messageId: "chatcmpl-fx1" },
};

describeProvider("kimi", kimi);
describeProvider("openai_legacy", openai);

const tested = createModelSubject({}, "/v1");
const { ask } = tested;

/** Text in one string, and the last chunk. */
async function askForText(answer: AnswerRequest): Promise<[string, ModelChunk | undefined]> {
	const chunks = await ask(answer);
	const texts = partsOf(chunks).map((part) => (part.type === "text" ? part.text : `<${part.type}>`));
	return [texts.join(""), chunks.at(-1)];
}

describe.each([
	["kimi", kimi],
	["openai_legacy", openai],
] as const)("the recorded stream of %s", (_name, { settings, stream, parts, last }) => {
	it.each([
		["names and retry times of events", stream.replaceAll("data: ", "event: unknown\nretry: 10\ndata: ")],
		["no [DONE]", stream.replace(/data: \[DONE\]\s*$/, "")],
		["no [DONE] and no line end", stream.replace(/data: \[DONE\]\s*$/, "").trimEnd()],
	])("is the same with %s", async (_variant, changed) => {
		const chunks = await ask(sendEvents(changed, { chunkSize: 7 }), settings);
		expect([partsOf(chunks), chunks.at(-1)]).toEqual([parts, last]);
	});
});

describe("usage", () => {
	const count = { prompt_tokens: 10, completion_tokens: 4 };
	const counted = { input_other: 10, output: 4, input_cache_read: 0, input_cache_creation: 0 };
	const last = (usage: unknown) => `data: ${JSON.stringify({ choices: [], usage })}\n\n`;

	it.each([
		["next to the finish reason", event({}, { finish_reason: "stop", usage: count }), counted],
		["in a last chunk", finish + last(count), counted],
		[
			"in both, the last wins",
			event({}, { finish_reason: "stop", usage: { prompt_tokens: 1 } }) + last(count),
			counted,
		],
		["on each chunk, then null", last(count) + finish + last(null), counted],
		["flat cached", finish + last({ ...count, cached_tokens: 3 }), { ...counted, input_other: 7, input_cache_read: 3 }],
		[
			"detailed cached and written",
			finish + last({ ...count, prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 } }),
			{ input_other: 5, output: 4, input_cache_read: 3, input_cache_creation: 2 },
		],
		[
			"more cached than sent",
			finish + last({ ...count, cached_tokens: 30 }),
			{ ...counted, input_other: 0, input_cache_read: 10 },
		],
		["nothing", finish + last({}), null],
	])("is read %s", async (_name, events, usage) => {
		const chunks = await ask(sendEvents(events));
		expect(chunks.at(-1)).toMatchObject({ type: "done", usage });
	});
});

describe("answers of compatible servers", () => {
	it.each([
		[
			"an empty finish reason before the end",
			event({ content: "a" }, { finish_reason: "" }) + event({ content: "b" }),
			"ab",
		],
		["a chunk without choices", `data: {"id":"m1","created":1.5}\n\n${event({ content: "a" })}`, "a"],
		["null and empty content", event({ role: "assistant", content: null }) + event({ content: "" }), ""],
		["a refusal", event({ content: null, refusal: "No." }), "No."],
		[
			"content in blocks",
			event({
				content: [
					{ type: "thinking", thinking: [{ type: "text", text: "t" }] },
					{ type: "text", text: "a" },
				],
			}),
			"<think>a",
		],
		["both keys of reasoning", event({ reasoning: "t", reasoning_content: "t" }), "<think>"],
		["the other key of reasoning", event({ reasoning: "t" }), "<think>"],
	])("are parsed: %s", async (_name, events, expected) => {
		expect(await askForText(sendEvents(events + finish))).toEqual([expected, done]);
	});

	it("may end with [DONE] without a finish reason, after which nothing is read", async () => {
		const answer = sendEvents(`${event({ content: "a" })}data: [DONE]\n\n${event({ content: "b" })}`);
		expect(await askForText(answer)).toEqual(["a", done]);
	});

	it("may have reasoning under a configured key, which is read first", async () => {
		const answer = sendEvents(event({ deliberation: "t", reasoning: "u" }) + finish);
		const chunks = await ask(answer, { providerType: "openai_legacy", reasoningKey: "deliberation" });
		expect(partsOf(chunks)).toEqual([think("t")]);
	});

	it("may have arguments as an object, and no id, which is generated", async () => {
		const toolCalls = [{ index: 0, function: { name: "f", arguments: { a: 1 } } }];
		const [made] = partsOf(await ask(sendEvents(event({ tool_calls: toolCalls }) + finish)));
		expect(made).toEqual({ ...toolCall("", "f", '{"a":1}'), id: expect.stringMatching(/^call_[0-9a-f]{24}$/) });
	});

	it("are complete when only the tail of the stream is missing", async () => {
		const answer = sendEvents(event({ content: "a" }) + finish, { ending: "cut" });
		expect(await askForText(answer)).toEqual(["a", done]);
	});

	it("say why they ended", async () => {
		const ended = (reason: string) => event({ content: "a" }) + event({}, { finish_reason: reason });
		const refused = createRefusal("The provider refused to answer (content_filter).");
		expect(await askForText(sendEvents(ended("content_filter")))).toEqual(["a", { type: "failed", failure: refused }]);
		expect(await ask(sendEvents(event({}, { finish_reason: "content_filter" })))).toEqual([
			{ type: "failed", failure: refused },
		]);
		expect(await askForText(sendEvents(ended("length")))).toEqual([
			"a",
			{ ...done, end: { kind: "truncated", reason: "length" } },
		]);
		expect((await askForText(sendEvents(ended("insufficient_system_resource"))))[1]).toMatchObject({
			failure: { kind: "provider", isTransient: true },
		});
		expect(await askForText(sendEvents(ended("novelty")))).toEqual(["a", done]);
	});
});

describe("the second request", () => {
	const label = (id: string) => ({ type: "text", text: `Image returned by ${id}:` });

	async function askTwice(stream: string, settings: Partial<ModelSettings>): Promise<unknown> {
		const seeing: Partial<ModelSettings> = { ...settings, capabilities: new Set(["image_in"]) };
		const first = await ask(sendEvents(stream), seeing);
		const request = continued(weatherRequest, first, weatherResults("1x1 image follows"));
		await ask(sendEvents(finish), seeing, request);
		return tested.server.requests[1]?.body;
	}

	it("is the recorded one for kimi, except for the label before the image", async () => {
		const body = await askTwice(kimi.stream, {
			...kimi.settings,
			thinking: "on",
			sampling: { ...plainModelSettings.sampling, maxCompletionTokens: 16_000, thinkingKeep: "all" },
		});
		const recorded = JSON.parse(readProviderFixture("kimi-followup.json"));
		recorded.messages.at(-1).content.unshift(label("read_image:1"));
		expect(body).toEqual(recorded);
	});

	it("is the recorded one for openai_legacy, except for more compatible spellings", async () => {
		const body = await askTwice(openai.stream, {
			...openai.settings,
			sampling: { ...plainModelSettings.sampling, maxCompletionTokens: 4096 },
		});
		const { prompt_cache_key: _, ...recorded } = JSON.parse(readProviderFixture("openai-chat-followup.json"));
		recorded.messages[0].role = "system";
		recorded.messages[1].content = recorded.messages[1].content[0].text;
		delete recorded.messages.at(-1).content[1].image_url.detail;
		expect(recorded.messages.at(-1).content[0]).toEqual(label("call_bI2"));
		expect(body).toEqual(recorded);
	});

	it("has the documented path and headers", async () => {
		await ask(sendEvents(finish), { customHeaders: { "X-Team": "blue" }, clientName: () => "ide 2.0" });
		expect(tested.server.requests[0]).toMatchObject({
			path: "/v1/chat/completions",
			headers: {
				authorization: "Bearer test-key-0123456789",
				"user-agent": "agentwire/1.2.3 (ide 2.0)",
				"x-team": "blue",
			},
		});
	});
});

describe("errors", () => {
	it.each([
		[
			"a field named error",
			'error: {"code":503,"message":"Loading model"}\n\n',
			modelFailure("status", "Loading model", 503),
		],
		["an event with plain text", "event: error\ndata: overloaded\n\n", modelFailure("provider", "overloaded")],
		[
			"keys of a gateway",
			'data: {"choices":null,"error_message":"no","error_type":"x"}\n\n',
			modelFailure("provider", "no"),
		],
		[
			"a value that is no object",
			"data: 5\n\n",
			modelFailure("provider", "The provider sent an event that is not an object."),
		],
	])("are found in a stream: %s", async (_name, events, expected) => {
		expect(await ask(sendEvents(events))).toEqual([expected]);
	});
});

describe("timeouts", () => {
	it("limit the wait for the tail of a complete answer", async () => {
		const clock = createManualClock();
		const timeouts = { response: 111_000, idle: 222_000 };
		const asked = ask(sendEvents(event({ content: "a" }) + finish, { ending: "hang" }), { clock, timeouts });
		await clock.expireNext(5000);
		expect((await asked).at(-1)).toEqual(done);
		await tested.server.requests[0]?.closed;
	});
});

it("says nothing more to a reader that leaves while it waits for a chunk", async () => {
	tested.server.answerNext(sendEvents(event({ content: "a" }), { ending: "hang" }));
	const stream = (await tested.create()).stream(plainRequest, new AbortController().signal)[Symbol.asyncIterator]();
	expect(await stream.next()).toMatchObject({ value: { type: "parts" } });
	const waiting = stream.next();
	await stream.return?.();
	expect([await waiting, await stream.next()]).toEqual(Array(2).fill({ done: true, value: undefined }));
});
