// The adapter against a provider on loopback: streams, second requests, errors, deadlines and the socket. One file, because
// all of it speaks through the same server and the same few builders of events.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeModelContract } from "../../../test/contracts/model-contract.ts";
import { collectChunks, plainRequest } from "../../../test/support/model-conversation.ts";
import { createManualClock, plainModelSettings } from "../../../test/support/model-settings.ts";
import {
	type AnswerRequest,
	type ProviderServer,
	readProviderFixture,
	sendEvents,
	sendJson,
	sendText,
	startProviderServer,
} from "../../../test/support/provider-server.ts";
import type { ContentPart, ToolCall } from "../../events/content.ts";
import type { ConversationMessage } from "../../events/conversation.ts";
import type { Model, ModelChunk, ModelFailure, ModelPart, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { createModel } from "../registry.ts";

const kimiStream = readProviderFixture("kimi-stream.sse");
const openaiStream = readProviderFixture("openai-chat-stream.sse");

describeModelContract("chat completions", async (scenario) => {
	const contractServer = await startProviderServer();
	const answers: Record<typeof scenario, AnswerRequest> = {
		answers: sendEvents(kimiStream),
		fails: sendJson(500, {}, { error: { message: "The server had an error." } }),
		long: sendEvents(event({ content: "a" }), { ending: "hang" }),
	};
	contractServer.answerNext(answers[scenario]);
	return {
		model: await createModel({ ...plainModelSettings, baseUrl: contractServer.url }),
		requestsSeen: () => contractServer.requests.length,
		close: contractServer.close,
	};
});

let server: ProviderServer;
beforeEach(async () => {
	server = await startProviderServer();
});
afterEach(() => server.close());

function create(settings: Partial<ModelSettings> = {}): Promise<Model> {
	return createModel({ ...plainModelSettings, baseUrl: `${server.url}/v1`, ...settings });
}

async function ask(answer: AnswerRequest, settings: Partial<ModelSettings> = {}): Promise<ModelChunk[]> {
	server.answerNext(answer);
	const model = await create(settings);
	return collectChunks(model.stream(plainRequest, new AbortController().signal));
}

/** Text in one string, and the last chunk. */
async function askForText(answer: AnswerRequest): Promise<[string, ModelChunk | undefined]> {
	const chunks = await ask(answer);
	const text = partsOf(chunks).map((part) => (part.type === "text" ? part.text : `<${part.type}>`));
	return [text.join(""), chunks.at(-1)];
}

function partsOf(chunks: readonly ModelChunk[]): ModelPart[] {
	return chunks.flatMap((chunk) => (chunk.type === "parts" ? chunk.parts : []));
}

function event(delta: unknown, others: Record<string, unknown> = {}): string {
	return `data: ${JSON.stringify({ id: "m1", choices: [{ index: 0, delta, ...others }] })}\n\n`;
}

const finish = event({}, { finish_reason: "stop" });
const done: ModelChunk = { type: "done", usage: null, messageId: "m1" };
const failed = (
	kind: ModelFailure["kind"],
	message: string,
	statusCode: number | null = null,
	retryAfter: number | null = null,
): ModelChunk => ({
	type: "failed",
	failure: { kind, message, statusCode, retryAfter },
});
const cut = failed("connection", "The provider's stream ended before the answer was complete.");

const text = (value: string): ModelPart => ({ type: "text", text: value });
const think = (value: string): ModelPart => ({ type: "think", think: value, encrypted: null });
const piece = (value: string): ModelPart => ({ type: "tool_call_part", arguments_part: value });
const call = (id: string, name: string, given: string | null): ToolCall => ({
	type: "function",
	id,
	function: { name, arguments: given },
	extras: null,
});

const kimiParts = [
	think("Two facts "),
	think("are needed."),
	text("Checking both…"),
	call("get_weather:0", "get_weather", null),
	piece('{"city":"Oslo"}'),
	call("read_image:1", "read_image", '{"path":'),
	piece('"pic.png"}'),
];
const kimiUsage = { input_other: 132, output: 80, input_cache_read: 768, input_cache_creation: 0 };
const openaiParts = [
	text("Checking "),
	text("both…"),
	call("call_aW1", "get_weather", null),
	piece('{"city":'),
	piece('"Oslo"}'),
	call("call_bI2", "read_image", null),
	piece('{"path":"pic.png"}'),
];
const openaiUsage = { input_other: 176, output: 96, input_cache_read: 1024, input_cache_creation: 0 };

function withCommentsBetween(stream: string): string {
	return stream.replaceAll("data: ", ": processing\n\nevent: unknown\nretry: 10\ndata: ");
}

describe.each([
	["kimi", kimiStream, kimiParts, { type: "done", usage: kimiUsage, messageId: "chatcmpl-k1" }],
	["openai_legacy", openaiStream, openaiParts, { type: "done", usage: openaiUsage, messageId: "chatcmpl-fx1" }],
] as const)("the recorded stream of %s", (providerType, stream, parts, last) => {
	it.each([1, 7, undefined])("is the same in writes of %s bytes", async (chunkSize) => {
		const chunks = await ask(sendEvents(stream, chunkSize === undefined ? {} : { chunkSize }), { providerType });
		expect([partsOf(chunks), chunks.at(-1)]).toEqual([parts, last]);
	});

	it.each([
		["CRLF", stream.replaceAll("\n", "\r\n")],
		["CR", stream.replaceAll("\n", "\r")],
		["comments between", withCommentsBetween(stream)],
		["no blank line at the end", stream.trimEnd()],
		["no [DONE]", stream.replace(/data: \[DONE\]\s*$/, "")],
		["no [DONE] and no line end", stream.replace(/data: \[DONE\]\s*$/, "").trimEnd()],
	])("is the same with %s", async (_name, variant) => {
		const chunks = await ask(sendEvents(variant, { chunkSize: 7 }), { providerType });
		expect([partsOf(chunks), chunks.at(-1)]).toEqual([parts, last]);
	});

	it("is incomplete when cut before a reason for ending", async () => {
		const events = stream.split("\n\n");
		const finishing = events.findIndex((data) => data.includes('"finish_reason":"tool_calls"'));
		for (let count = 0; count < finishing; count++) {
			const start = events.slice(0, count).map((data) => `${data}\n\n`);
			const chunks = await ask(sendEvents(start.join("")), { providerType });
			expect(chunks.at(-1)).toEqual(cut);
		}
		const whole = await ask(sendEvents(`${events.slice(0, finishing + 1).join("\n\n")}\n\n`), { providerType });
		expect(whole.at(-1)?.type).toBe("done");
	});

	it("is incomplete when it ends inside an event", async () => {
		const start = stream.slice(0, stream.indexOf("\n\n") + 20);
		const chunks = await ask(sendEvents(start), { providerType });
		expect(chunks.at(-1)).toEqual(cut);
	});

	it("fails as a connection does when the socket is cut", async () => {
		const start = stream.slice(0, stream.indexOf("\n\n") + 20);
		const chunks = await ask(sendEvents(start, { ending: "cut" }), { providerType });
		expect(chunks.at(-1)).toMatchObject({ type: "failed", failure: { kind: "connection", statusCode: null } });
	});
});

describe("usage", () => {
	const count = { prompt_tokens: 10, completion_tokens: 4 };
	const counted = { input_other: 10, output: 4, input_cache_read: 0, input_cache_creation: 0 };
	const last = (usage: unknown) => `data: ${JSON.stringify({ choices: [], usage })}\n\n`;

	it.each([
		["beside the reason", event({}, { finish_reason: "stop", usage: count }), counted],
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

describe("what compatible servers send", () => {
	it.each([
		[
			"an empty finish reason while running",
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
		["both names of thoughts", event({ reasoning: "t", reasoning_content: "t" }), "<think>"],
		["the other name of thoughts", event({ reasoning: "t" }), "<think>"],
	])("is read: %s", async (_name, events, expected) => {
		expect(await askForText(sendEvents(events + finish))).toEqual([expected, done]);
	});

	it("takes [DONE] without a reason for the end, and reads nothing behind it", async () => {
		const answer = sendEvents(`${event({ content: "a" })}data: [DONE]\n\n${event({ content: "b" })}`);
		expect(await askForText(answer)).toEqual(["a", done]);
	});

	it("takes thoughts under a configured key first", async () => {
		const answer = sendEvents(event({ thoughts: "t", reasoning: "u" }) + finish);
		const chunks = await ask(answer, { providerType: "openai_legacy", reasoningKey: "thoughts" });
		expect(partsOf(chunks)).toEqual([think("t")]);
	});

	it("takes arguments that are an object, and makes up a missing id", async () => {
		const toolCalls = [{ index: 0, function: { name: "f", arguments: { a: 1 } } }];
		const [made] = partsOf(await ask(sendEvents(event({ tool_calls: toolCalls }) + finish)));
		expect(made).toEqual({ ...call("", "f", '{"a":1}'), id: expect.stringMatching(/^call_[0-9a-f]{24}$/) });
	});

	it("ends well when only the tail of the stream is missing", async () => {
		const answer = sendEvents(event({ content: "a" }) + finish, { ending: "cut" });
		expect(await askForText(answer)).toEqual(["a", done]);
	});

	it("says so when a filter left nothing, and keeps what it left", async () => {
		const filtered = event({}, { finish_reason: "content_filter" });
		expect(await ask(sendEvents(filtered))).toEqual([
			failed("provider", "The provider's content filter stopped the answer."),
		]);
		expect(await askForText(sendEvents(event({ content: "a" }) + filtered))).toEqual(["a", done]);
	});
});

describe("the second request", () => {
	const picture =
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
	const label = (id: string) => ({ type: "text", text: `Image returned by ${id}:` });

	/** The messages of the recorded scene, made from what the first answer streamed. */
	function secondRequest(chunks: readonly ModelChunk[]): ModelRequest {
		const content: ContentPart[] = [];
		const toolCalls: ToolCall[] = [];
		for (const part of partsOf(chunks)) {
			const last = toolCalls.at(-1);
			if (part.type === "function") toolCalls.push(part);
			else if (part.type !== "tool_call_part") content.push(part);
			else if (last !== undefined) {
				const given = (last.function.arguments ?? "") + (part.arguments_part ?? "");
				toolCalls[toolCalls.length - 1] = { ...last, function: { ...last.function, arguments: given } };
			}
		}
		const results: ConversationMessage[] = toolCalls.map(({ id }, index) => ({
			role: "tool",
			toolCallId: id,
			content:
				index === 0
					? [{ type: "text", text: "4 C, rain" }]
					: [
							{ type: "text", text: "1x1 image follows" },
							{ type: "image_url", image_url: { url: picture, id: null } },
						],
		}));
		return {
			systemPrompt: "Be brief.",
			tools: [],
			messages: [
				{ role: "user", content: [{ type: "text", text: "Weather in Oslo, and what is in pic.png?" }] },
				{ role: "assistant", content, toolCalls },
				...results,
			],
			cacheKey: "session-41",
		};
	}

	async function askTwice(stream: string, settings: Partial<ModelSettings>): Promise<unknown> {
		const first = await ask(sendEvents(stream), settings);
		server.answerNext(sendEvents(finish));
		const model = await create(settings);
		await collectChunks(model.stream(secondRequest(first), new AbortController().signal));
		return server.requests[1]?.body;
	}

	it("is the recorded one for kimi, but for the label before the picture", async () => {
		const body = await askTwice(kimiStream, {
			providerType: "kimi",
			model: "kimi-k2.6",
			thinking: "on",
			sampling: { ...plainModelSettings.sampling, maxCompletionTokens: 16_000, thinkingKeep: "all" },
		});
		const recorded = JSON.parse(readProviderFixture("kimi-followup.json"));
		recorded.messages.at(-1).content.unshift(label("read_image:1"));
		expect(body).toEqual(recorded);
	});

	it("is the recorded one for openai_legacy, but for spellings that every compatible server knows", async () => {
		const body = await askTwice(openaiStream, {
			providerType: "openai_legacy",
			model: "gpt-5.2",
			sampling: { ...plainModelSettings.sampling, maxCompletionTokens: 4096 },
		});
		const { prompt_cache_key: _, ...recorded } = JSON.parse(readProviderFixture("openai-chat-followup.json"));
		recorded.messages[0].role = "system";
		recorded.messages[1].content = recorded.messages[1].content[0].text;
		delete recorded.messages.at(-1).content[1].image_url.detail;
		expect(recorded.messages.at(-1).content[0]).toEqual(label("call_bI2"));
		expect(body).toEqual(recorded);
	});

	it("goes to the right place with the right headers", async () => {
		await ask(sendEvents(finish), { customHeaders: { "X-Team": "blue" }, clientName: () => "ide 2.0" });
		expect(server.requests[0]).toMatchObject({
			path: "/v1/chat/completions",
			headers: {
				authorization: "Bearer test-key-0123456789",
				"user-agent": "agentwire/1.2.3 (ide 2.0)",
				"x-team": "blue",
			},
		});
	});
});

interface RecordedError {
	readonly case: string;
	readonly status: number;
	readonly headers: Record<string, string>;
	readonly body?: { error?: { message?: string } | string; message?: string };
	readonly sse?: readonly string[];
}

const recordedErrors: RecordedError[] = ["openai-errors.jsonl", "kimi-errors.jsonl", "compat-errors.jsonl"].flatMap(
	(name) =>
		readProviderFixture(name)
			.trim()
			.split("\n")
			.map((line): RecordedError => JSON.parse(line)),
);

/** Milliseconds that the recorded answers ask to wait; the more precise of two headers counts. */
const recordedWaits: Readonly<Record<string, number>> = {
	"Rate limit reached on tokens per min.": 1500,
	"Engine overloaded.": 5000,
	"Organization reached max RPM, try again after 1 seconds": 1000,
};
const keyNote = 'The key for the provider "mine" is that of providers.mine.api_key.';

/** What is to be made of a recorded error (provider-apis §5). */
function classified(name: string, message: string, status: number): ModelChunk {
	if (name.includes("money")) return failed("provider", message);
	if (name.includes("overflow")) return failed("overflow", message, status);
	const isRefusal = status === 401 || status === 403;
	const told = isRefusal ? `${message}${message.endsWith(".") ? "" : "."} ${keyNote}` : message;
	return failed("status", told, status, recordedWaits[message] ?? null);
}

describe("errors", () => {
	it.each(recordedErrors.filter(({ body }) => body !== undefined))(
		"are reported in the provider's words: $case",
		async ({ case: name, status, headers, body }) => {
			const error = body?.error;
			const message = (typeof error === "string" ? error : error?.message) ?? body?.message ?? "";
			expect(await ask(sendJson(status, headers, body))).toEqual([classified(name, message, status)]);
			expect(server.requests).toHaveLength(1);
		},
	);

	it.each(recordedErrors.filter(({ sse }) => sse !== undefined))(
		"are found in a stream: $case",
		async ({ case: name, sse }) => {
			const expected =
				name === "mid-stream"
					? failed("status", "The server had an error.", 500)
					: failed(
							"overflow",
							"The number of tokens to keep from the initial prompt is greater than the context length.",
						);
			const error = `${(sse ?? []).join("\n")}\n\n`;
			expect(await ask(sendEvents(error))).toEqual([expected]);
			expect(await askForText(sendEvents(event({ content: "a" }) + error))).toEqual(["a", expected]);
		},
	);

	it.each([
		[
			"a field named error",
			'error: {"code":503,"message":"Loading model"}\n\n',
			failed("status", "Loading model", 503),
		],
		["an event of plain text", "event: error\ndata: overloaded\n\n", failed("provider", "overloaded")],
		["keys of a gateway", 'data: {"choices":null,"error_message":"no","error_type":"x"}\n\n', failed("provider", "no")],
		["no JSON", "data: oops\n\n", failed("provider", "The provider sent an event that is not JSON.")],
		["no object", "data: 5\n\n", failed("provider", "The provider sent an event that is not an object.")],
	])("are found in a stream: %s", async (_name, events, expected) => {
		expect(await ask(sendEvents(events))).toEqual([expected]);
	});

	it.each([
		[
			"a page of a proxy",
			sendText(502, { "content-type": "text/html" }, "<html>"),
			failed("status", "HTTP 502 Bad Gateway", 502),
		],
		["plain text", sendText(503, { "content-type": "text/plain" }, "busy\n"), failed("status", "busy", 503)],
		["nothing", sendText(500, {}, ""), failed("status", "HTTP 500 Internal Server Error", 500)],
		["an error with status 200", sendJson(200, {}, { error: { message: "no" } }), failed("provider", "no")],
		[
			"a page with status 200",
			sendText(200, { "content-type": "text/html" }, "<html>"),
			failed("provider", "The provider answered with text/html instead of an event stream."),
		],
		["a redirect", sendText(307, { location: "/elsewhere" }, ""), failed("status", "HTTP 307 Temporary Redirect", 307)],
	])("come as other answers: %s", async (_name, answer, expected) => {
		expect(await ask(answer)).toEqual([expected]);
		expect(server.requests).toHaveLength(1);
	});

	it("never repeat keys", async () => {
		const message = "bad key test-key-0123456789, Bearer abcdefghijkl, sk-abcdefghijkl, hidden-header-value";
		const customHeaders = { "x-key": "hidden-header-value", "x-flag": "a" };
		expect(await ask(sendJson(401, {}, { error: { message } }), { customHeaders })).toEqual([
			failed("status", `bad key [redacted], Bearer [redacted], [redacted], [redacted]. ${keyNote}`, 401),
		]);
	});

	it("are connection failures when nobody listens", async () => {
		const gone = await startProviderServer();
		await gone.close();
		const model = await create({ baseUrl: gone.url });
		const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
		expect(chunks).toMatchObject([{ type: "failed", failure: { kind: "connection", statusCode: null } }]);
		expect(JSON.stringify(chunks)).toContain("ECONNREFUSED");
	});

	it("tell an unusable base URL", async () => {
		const model = await create({ baseUrl: "nowhere" });
		expect(await collectChunks(model.stream(plainRequest, new AbortController().signal))).toEqual([
			failed("provider", "The provider's base_url is not an http(s) URL without credentials."),
		]);
	});
});

describe("deadlines", () => {
	const timeouts = { response: 111_000, idle: 222_000 };

	it("end a request that gets no answer", async () => {
		const clock = createManualClock();
		const asked = ask(async () => {}, { clock, timeouts });
		await clock.expireNext(111_000);
		expect(await asked).toEqual([failed("timeout", "The provider sent nothing for 111 s.")]);
		await server.requests[0]?.closed;
	});

	it("end an answer that falls silent", async () => {
		const clock = createManualClock();
		server.answerNext(sendEvents(event({ content: "a" }), { ending: "hang" }));
		const model = await create({ clock, timeouts });
		const iterator = model.stream(plainRequest, new AbortController().signal)[Symbol.asyncIterator]();
		expect((await iterator.next()).value).toEqual({ type: "parts", parts: [text("a")] });
		const next = iterator.next();
		await clock.expireNext(222_000);
		expect((await next).value).toEqual(failed("timeout", "The provider sent nothing for 222 s."));
		await server.requests[0]?.closed;
	});

	it("wait only briefly for the tail of an answer that has ended", async () => {
		const clock = createManualClock();
		const asked = ask(sendEvents(event({ content: "a" }) + finish, { ending: "hang" }), { clock, timeouts });
		await clock.expireNext(5000);
		expect((await asked).at(-1)).toEqual(done);
		await server.requests[0]?.closed;
	});
});

describe("the socket", () => {
	it("is closed by an abort while the answer streams, and by one before it begins", async () => {
		const model = await create();
		server.answerNext(sendEvents(event({ content: "a" }), { ending: "hang" }));
		const streaming = new AbortController();
		const iterator = model.stream(plainRequest, streaming.signal)[Symbol.asyncIterator]();
		await iterator.next();
		const next = iterator.next();
		streaming.abort();
		expect(await next).toEqual({ done: true, value: undefined });
		await server.requests[0]?.closed;

		const waiting = new AbortController();
		server.answerNext(async () => waiting.abort());
		expect(await collectChunks(model.stream(plainRequest, waiting.signal))).toEqual([]);
		await server.requests[1]?.closed;
	});

	it("is closed when the stream is left early", async () => {
		server.answerNext(sendEvents(event({ content: "a" }), { ending: "hang" }));
		const model = await create();
		for await (const chunk of model.stream(plainRequest, new AbortController().signal)) {
			expect(chunk.type).toBe("parts");
			break;
		}
		await server.requests[0]?.closed;
	});

	it("is not read while nobody pulls", async () => {
		const total = 64 * 1024 * 1024;
		const pieceOfEvents = event({ content: "x".repeat(1000) }).repeat(64);
		let written = 0;
		server.answerNext(async (response) => {
			const gone = once(response, "close");
			response.writeHead(200, { "content-type": "text/event-stream" });
			while (written < total && !response.destroyed) {
				written += pieceOfEvents.length;
				if (!response.write(pieceOfEvents)) await Promise.race([once(response, "drain"), gone]);
			}
			response.end(finish);
		});
		const model = await create();
		const controller = new AbortController();
		const iterator = model.stream(plainRequest, controller.signal)[Symbol.asyncIterator]();
		await iterator.next();
		// Stands still once the buffers of both sides are full; only time can show that nothing more happens.
		let before = -1;
		while (written !== before) {
			before = written;
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
		expect(written).toBeLessThan(total / 2);
		controller.abort();
		await iterator.next();
		await server.requests[0]?.closed;
	});
});
