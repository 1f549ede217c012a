// What every adapter promises of a provider's stream, whatever its protocol: the contract of models, bytes as they come,
// cuts, errors, deadlines and the socket. Run from a test next to each adapter, against a provider on loopback.
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/base/json.ts";
import { type ModelChunk, type ModelFailure, type ModelPart, modelFailure } from "../../src/core/models/model.ts";
import type { ModelSettings } from "../../src/core/models/model-settings.ts";
import { createModel } from "../../src/core/models/registry.ts";
import {
	assistant,
	collectChunks,
	partsOf,
	plainRequest,
	text,
	toolCall,
	toolResult,
	user,
} from "../support/models/model-conversation.ts";
import { createManualClock, plainModelSettings } from "../support/models/model-settings.ts";
import { createModelSubject } from "../support/models/model-subject.ts";
import {
	type AnswerRequest,
	readProviderFixture,
	sendEvents,
	sendJson,
	sendText,
	startProviderServer,
} from "../support/models/provider-server.ts";
import { describeModelContract } from "./model-contract.ts";

export interface ProviderSubject {
	/** The adapter and its model; the base URL is the server's root. */
	readonly settings: Pick<ModelSettings, "providerType" | "model"> & Partial<ModelSettings>;
	/** A whole stream of the provider, what it holds, and its last chunk. */
	readonly stream: string;
	readonly parts: readonly ModelPart[];
	readonly last: ModelChunk;
	/** How many events at the end of the stream an answer is whole without; none when absent. */
	readonly spareEvents?: number;
	/** Whether a route that is missing is followed by a request to another one. */
	readonly hasOtherRoute?: boolean;
	/** What comes before the text of `delta`, one event with a text, and what ends the answer after it. */
	readonly start: string;
	readonly delta: (text: string) => string;
	readonly end: string;
	/** An event that no version of the protocol has. */
	readonly unknownEvent: string;
	/** The files of recorded errors, and what the errors in them mean where that is not their status alone. */
	readonly errors: Readonly<Record<string, Readonly<Record<string, Partial<ModelFailure>>>>>;
}

/** Errors as providers and servers like theirs write them. */
interface ErrorBody {
	readonly error?: { readonly message: string } | string;
	readonly message?: string;
}

interface RecordedError {
	readonly case: string;
	readonly status: number;
	readonly headers: Record<string, string>;
	readonly body?: ErrorBody | ErrorBody[];
	readonly sse?: readonly string[];
}

const cutOff = modelFailure("connection", "The provider's stream ended before the answer was complete.");
const disconnected = { type: "failed", failure: { kind: "connection", statusCode: null } };

/** Declares the suite, that of `describeModelContract` included. */
export function describeProvider(name: string, subject: ProviderSubject): void {
	describeModelContract(name, async (scenario) => {
		const server = await startProviderServer();
		const answers: Record<typeof scenario, AnswerRequest> = {
			answers: sendEvents(subject.stream),
			fails: sendJson(500, {}, { error: { message: "The server had an error." } }),
			long: sendEvents(subject.start + subject.delta("a"), { ending: "hang" }),
		};
		server.answerNext(answers[scenario]);
		return {
			model: await createModel({ ...plainModelSettings, ...subject.settings, baseUrl: server.url }),
			requestsSeen: () => server.requests.length,
			close: server.close,
		};
	});

	describe(`provider: ${name}`, () => {
		const tested = createModelSubject(subject.settings);
		const { ask, create } = tested;

		describe("the recorded stream", () => {
			const events = subject.stream
				.trimEnd()
				.split("\n\n")
				.map((event) => `${event}\n\n`);
			const needed = events.length - (subject.spareEvents ?? 0);
			const variants: [name: string, text: string][] = [
				["LF", subject.stream],
				["CRLF", subject.stream.replaceAll("\n", "\r\n")],
				["CR", subject.stream.replaceAll("\n", "\r")],
				["comments and unknown events", withMoreBetween(events, subject.unknownEvent)],
				["no blank line at the end", subject.stream.trimEnd()],
			];
			const cases = variants.flatMap(([variant, stream]) =>
				[1, 2, 3, 7, undefined].map((size) => [variant, size ?? "all", stream, size] as const),
			);
			it.each(cases)("is the same with %s in writes of %s bytes", async (_name, _size, stream, chunkSize) => {
				const chunks = await ask(sendEvents(stream, chunkSize === undefined ? {} : { chunkSize }));
				expect([partsOf(chunks), chunks.at(-1)]).toEqual([subject.parts, subject.last]);
			});

			it("is incomplete when it ends after any event but the last it needs", async () => {
				for (let count = 0; count < needed; count++) {
					const chunks = await ask(sendEvents(events.slice(0, count).join("")));
					expect([count, chunks.at(-1)]).toEqual([count, cutOff]);
					const parts = partsOf(chunks);
					expect(parts).toEqual(subject.parts.slice(0, parts.length));
				}
			});

			it.each([
				["it ends", "end", cutOff],
				["the socket is cut", "cut", disconnected],
			] as const)("is incomplete when %s inside an event that it needs", async (_name, ending, last) => {
				for (const [count, event] of events.slice(0, needed).entries()) {
					const start = events.slice(0, count).join("") + event.slice(0, event.indexOf("data:") + 9);
					const chunks = await ask(sendEvents(start, { ending }));
					expect([count, chunks.at(-1)]).toMatchObject([count, last]);
				}
			});

			it.each(events.slice(needed).map((_event, index) => [events.length - needed - index, needed + index] as const))(
				"is complete without its last %i events, whether it ends or the socket is cut",
				async (_missing, count) => {
					for (const ending of ["end", "cut"] as const) {
						const chunks = await ask(sendEvents(events.slice(0, count).join(""), { ending }));
						expect([partsOf(chunks), chunks.at(-1)?.type]).toEqual([subject.parts, "done"]);
					}
				},
			);

			it("is complete at its end mark, without the end of the body", async () => {
				const chunks = await ask(sendEvents(subject.stream, { ending: "hang" }));
				expect([partsOf(chunks), chunks.at(-1)]).toEqual([subject.parts, subject.last]);
				await tested.server.requests[0]?.closed;
			});
		});

		describe("halves of surrogate pairs", () => {
			const half = "a\ud83d";

			it("are joined when the provider's deltas cut a pair", async () => {
				const stream = subject.start + subject.delta(half) + subject.delta("\ude00b") + subject.end;
				expect(partsOf(await ask(sendEvents(stream)))).toEqual([text("a"), text("\u{1f600}b")]);
			});

			it("are in no request: a provider refuses one as invalid JSON", async () => {
				const request = {
					...plainRequest,
					messages: [
						user(text(half)),
						assistant([text(half)], [toolCall("call_1", "Shell", JSON.stringify({ command: half }))]),
						toolResult("call_1", text(half)),
						user(text(half)),
					],
				};
				await ask(sendEvents(subject.stream), {}, request);
				const body = JSON.stringify(tested.server.requests[0]?.body);
				expect(body).toContain("a\ufffd");
				expect(body).not.toMatch(/\\u[dD][89a-fA-F]/);
			});
		});

		it("is sent an object as the arguments of every earlier call, whatever the model had written", async () => {
			const written = ['{"path":"a', "[1]", "null", " ", '{"text":"one\ntwo"}', '{"text":"kept"}'];
			const calls = written.map((given, index) => toolCall(`call_${index}`, "Shell", given));
			const results = calls.map(({ id }) => toolResult(id, text("x")));
			await ask(
				sendEvents(subject.stream),
				{},
				{ ...plainRequest, messages: [user(text("a")), assistant([], calls), ...results] },
			);
			const sent = callArguments(tested.server.requests[0]?.body);
			expect(sent).toEqual([{}, {}, {}, {}, { text: "one\ntwo" }, { text: "kept" }]);
		});

		it("is sent names of tools and schemas that every provider accepts", async () => {
			const parameters = { type: "object", properties: { a: { type: "array" } }, anyOf: [{ required: ["a"] }] };
			const names = ["ns.read", "x".repeat(128), "9/lives"];
			const messages = [
				user(text("a")),
				assistant([], [toolCall("c1", "functions.Read\n"), toolCall("c2", "")]),
				toolResult("c1", text("x")),
				toolResult("c2", text("x")),
			];
			const tools = names.map((name) => ({ name, description: "A tool.", parameters }));
			await ask(sendEvents(subject.stream), {}, { ...plainRequest, tools, messages });
			const body = tested.server.requests[0]?.body;
			const sent = valuesOf(body, "name");
			expect(sent.length).toBeGreaterThanOrEqual(5);
			for (const name of sent) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
			expect(valuesOf(body, "anyOf")).toEqual([]);
			expect(valuesOf(body, "items")).toHaveLength(3);
		});

		describe("errors", () => {
			const recorded = Object.entries(subject.errors).flatMap(([file, meanings]) =>
				readProviderFixture(file)
					.trim()
					.split("\n")
					.map((line) => {
						const error: RecordedError = JSON.parse(line);
						return { ...error, file, meaning: meanings[error.case] ?? {} };
					}),
			);

			it.each(recorded.filter(({ body }) => body !== undefined))("are reported: $file, $case", async (error) => {
				const { status, headers, body, meaning } = error;
				const chunks = await ask(sendJson(status, headers, body));
				const url = new URL(tested.server.requests[0]?.path ?? "", tested.server.url);
				const failed = modelFailure("status", withNotes(messageOf(body), status, subject.settings, url), status);
				expect(chunks).toEqual([{ ...failed, failure: { ...failed.failure, ...meaning } }]);
				expect(tested.server.requests).toHaveLength(1);
			});

			it.each(recorded.filter(({ sse }) => sse !== undefined))(
				"are reported in a stream: $file, $case",
				async (error) => {
					const event = `${(error.sse ?? []).join("\n")}\n\n`;
					const failed = { type: "failed", failure: { statusCode: null, retryAfter: null, ...error.meaning } };
					expect(await ask(sendEvents(event))).toEqual([failed]);
					const chunks = await ask(sendEvents(subject.start + subject.delta("a") + event));
					expect([partsOf(chunks), chunks.at(-1)]).toEqual([[text("a")], failed]);
				},
			);

			it.each([
				["a page of a proxy", sendText(502, { "content-type": "text/html" }, "<html>"), "HTTP 502 Bad Gateway", 502],
				["plain text", sendText(503, { "content-type": "text/plain" }, "busy\n"), "busy", 503],
				["nothing", sendText(500, {}, ""), "HTTP 500 Internal Server Error", 500],
			])("are reported when the body is %s", async (_name, answer, message, status) => {
				expect(await ask(answer)).toEqual([modelFailure("status", message, status)]);
				expect(tested.server.requests).toHaveLength(1);
			});

			describe("of a wrong base_url", () => {
				const page = { "content-type": "text/html" };
				const redirect = (location: string) => sendText(307, { location }, "");

				it.each([
					["a page", sendText(404, page, "<html>"), "HTTP 404 Not Found.", 404],
					["a server that has no such route", sendJson(404, {}, { detail: "Not Found" }), "Not Found.", 404],
					["another method", sendText(405, {}, ""), "HTTP 405 Method Not Allowed.", 405],
					["the page of a server with TLS", sendText(400, page, "<html>"), "HTTP 400 Bad Request.", 400],
					[
						"a page with status 200",
						sendText(200, page, "<html>"),
						"The provider answered with text/html instead of an event stream.",
						null,
					],
					[
						"a redirect",
						redirect("https://elsewhere.example/v2?token=abcdefgh"),
						"HTTP 307 Temporary Redirect. The redirect to https://elsewhere.example/v2 is not followed.",
						307,
					],
					["a redirect to nowhere", redirect("http://"), "HTTP 307 Temporary Redirect.", 307],
				])("name the address of the request and the setting: %s", async (_name, answer, message, status) => {
					const isSentAgain = subject.hasOtherRoute === true && (status === 404 || status === 405);
					if (isSentAgain) tested.server.answerNext(answer);
					const [chunk, ...others] = await ask(answer);
					const note = addressNote(new URL(tested.server.requests[0]?.path ?? "", tested.server.url));
					expect([chunk, others]).toMatchObject([
						{ failure: { message: `${message} ${note}`, statusCode: status } },
						[],
					]);
					expect(tested.server.requests).toHaveLength(isSentAgain ? 2 : 1);
				});

				it("are distinguished from those of a wrong model", async () => {
					const message = "The model `none` does not exist.";
					expect(await ask(sendJson(404, {}, { error: { message } }))).toEqual([modelFailure("status", message, 404)]);
				});

				it("have no secrets of the address", async () => {
					tested.server.answerNext(sendText(404, {}, ""));
					if (subject.hasOtherRoute === true) tested.server.answerNext(sendText(404, {}, ""));
					const model = await create({ baseUrl: `${tested.server.url}/test-key-0123456789/v1?key=abc` });
					const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
					expect(JSON.stringify(chunks)).toContain(`made to ${tested.server.url}/[redacted]/v1`);
					expect(JSON.stringify(chunks)).not.toContain("key=abc");
				});
			});

			it.each([
				["an error", sendJson(200, {}, { error: { message: "no" } }), "no"],
				["an event that is not JSON", sendEvents("data: oops\n\n"), "The provider sent an event that is not JSON."],
				["an error where events were to come", sendEvents('{\n"error": {"message": "no"}}'), "no"],
				["an error in plain text", sendText(200, { "content-type": "text/plain" }, '{"error":"no"}\n'), "no"],
				[
					"other JSON",
					sendJson(200, {}, { base_resp: { status_msg: "no credit" } }),
					'The provider answered with JSON instead of an event stream: {"base_resp":{"status_msg":"no credit"}}',
				],
			])("are reported with status 200 too: %s", async (_name, answer, message) => {
				expect(await ask(answer)).toEqual([modelFailure("provider", message)]);
				expect(tested.server.requests).toHaveLength(1);
			});

			it.each([
				["details of another form", { detail: [{ loc: ["body", "model"], msg: "field required" }] }],
				["an error without words", { error: { reason: "none" } }],
			])("are reported with the whole body where the words are not found: %s", async (_name, body) => {
				const message = `HTTP 422 Unprocessable Entity: ${JSON.stringify(body)}`;
				expect(await ask(sendJson(422, {}, body))).toEqual([modelFailure("status", message, 422)]);
			});

			it("have the status that a body with status 200 names, so that they are retried if that may help", async () => {
				const busy = sendJson(200, {}, { error: { message: "busy", code: "503" } });
				expect(await ask(busy)).toEqual([modelFailure("status", "busy", 503)]);
				const raw = sendEvents('{"error":{"message":"wait","code":429}}');
				expect(await ask(raw)).toEqual([modelFailure("status", "wait", 429)]);
			});

			it("never contain keys, and keep texts that are too short for a key", async () => {
				const message = "bad key test-key-0123456789, Bearer abcdefghijkl, sk-abcdefghijkl, hidden-header-value";
				const customHeaders = { "x-key": "hidden-header-value", "x-flag": "a" };
				expect(await ask(sendJson(401, {}, { error: { message } }), { customHeaders })).toEqual([
					modelFailure(
						"status",
						withNotes("bad key [redacted], Bearer [redacted], [redacted], [redacted]", 401, subject.settings),
						401,
					),
				]);
			});

			it("are connection failures when nobody listens", async () => {
				const gone = await startProviderServer();
				await gone.close();
				const model = await create({ baseUrl: gone.url });
				const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
				expect(chunks).toMatchObject([disconnected]);
				expect(JSON.stringify(chunks)).toContain("ECONNREFUSED");
			});

			it("name an unusable base URL, and forbidden headers without quoting them", async () => {
				const address = await create({ baseUrl: "nowhere" });
				const header = await create({ customHeaders: { "x-key": "secret\nvalue" } });
				for (const [model, message] of [
					[address, "The provider's base_url is not an http(s) URL without credentials."],
					[header, "The provider's api_key or custom_headers contain characters that HTTP does not allow."],
				] as const) {
					const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
					expect(chunks).toEqual([modelFailure("provider", message)]);
				}
			});
		});

		describe("deadlines", () => {
			const timeouts = { response: 111_000, idle: 222_000 };

			it("end a request that gets no answer", async () => {
				const clock = createManualClock();
				const asked = ask(async () => {}, { clock, timeouts });
				await clock.expireNext(111_000);
				expect(await asked).toEqual([modelFailure("timeout", "The provider sent nothing for 111 s.")]);
				await tested.server.requests[0]?.closed;
			});

			it("end an answer that stalls, after delivering its parts so far", async () => {
				const clock = createManualClock();
				tested.server.answerNext(sendEvents(subject.start + subject.delta("a"), { ending: "hang" }));
				const model = await create({ clock, timeouts });
				const iterator = model.stream(plainRequest, new AbortController().signal)[Symbol.asyncIterator]();
				expect((await iterator.next()).value).toEqual({ type: "parts", parts: [text("a")] });
				const next = iterator.next();
				await clock.expireNext(222_000);
				expect((await next).value).toEqual(modelFailure("timeout", "The provider sent nothing for 222 s."));
				await tested.server.requests[0]?.closed;
			});
		});

		describe("bounds", () => {
			/** Writes until nobody takes any more. */
			const sendEndlessly =
				(start: string, piece: string): AnswerRequest =>
				async (response) => {
					const gone = once(response, "close");
					response.writeHead(200, { "content-type": "text/event-stream" });
					response.write(start);
					while (!response.destroyed) {
						if (!response.write(piece)) await Promise.race([once(response, "drain"), gone]);
					}
				};

			it.each([
				["says too much", subject.delta("x".repeat(500_000)), "The model's answer has more than 16 million characters"],
				["is long without saying much", `: ${"x".repeat(500_000)}\n\n`, "The provider's answer has more than 64 MiB"],
			])("end an answer that %s, with the name of the bound", { timeout: 60_000 }, async (_name, piece, message) => {
				tested.server.answerNext(sendEndlessly(subject.start, piece));
				const model = await create();
				let said = 0;
				let last: ModelChunk | undefined;
				for await (const chunk of model.stream(plainRequest, new AbortController().signal)) {
					last = chunk;
					if (chunk.type !== "parts") continue;
					for (const part of chunk.parts) said += part.type === "text" ? part.text.length : 0;
				}
				expect(last).toEqual(modelFailure("provider", `${message}, and was cut off.`));
				expect(said).toBeLessThan(17_000_000);
				await tested.server.requests[0]?.closed;
			});

			it.each([
				["in one line", "x".repeat(1_000_000)],
				["in many lines", `data: ${"x".repeat(1000)}\n`.repeat(1000)],
			])("end an event that never does: %s", async (_name, piece) => {
				const chunks = await ask(sendEndlessly(`${subject.start}data: `, piece));
				const message = "The provider sent an event of more than 16 MiB, and was cut off.";
				expect(chunks).toEqual([modelFailure("provider", message)]);
				await tested.server.requests[0]?.closed;
			});

			it("apply to errors too, of which the beginning is read", async () => {
				const endless: AnswerRequest = async (response) => {
					const gone = once(response, "close");
					response.writeHead(500, { "content-type": "text/plain" });
					while (!response.destroyed) {
						if (!response.write("x".repeat(100_000))) await Promise.race([once(response, "drain"), gone]);
					}
				};
				expect(await ask(endless)).toEqual([modelFailure("status", "x".repeat(2000), 500)]);
				await tested.server.requests[0]?.closed;
			});
		});

		describe("the socket", () => {
			it("is closed at once by an abort while the answer stalls", async () => {
				tested.server.answerNext(sendEvents(subject.start + subject.delta("a"), { ending: "hang" }));
				const controller = new AbortController();
				const model = await create();
				const iterator = model.stream(plainRequest, controller.signal)[Symbol.asyncIterator]();
				expect(await iterator.next()).toEqual({ done: false, value: { type: "parts", parts: [text("a")] } });
				const next = iterator.next();
				const aborted = performance.now();
				controller.abort();
				await tested.server.requests[0]?.closed;
				expect(performance.now() - aborted).toBeLessThan(100);
				expect(await next).toEqual({ done: true, value: undefined });
				// The model can be asked again.
				tested.server.answerNext(sendEvents(subject.stream));
				const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
				expect(chunks.at(-1)).toEqual(subject.last);
			});

			it("is closed by an abort before the answer begins", async () => {
				const controller = new AbortController();
				tested.server.answerNext(async () => controller.abort());
				const model = await create();
				expect(await collectChunks(model.stream(plainRequest, controller.signal))).toEqual([]);
				await tested.server.requests[0]?.closed;
			});

			it("is closed when the stream is abandoned", async () => {
				tested.server.answerNext(sendEvents(subject.start + subject.delta("a"), { ending: "hang" }));
				const model = await create();
				for await (const chunk of model.stream(plainRequest, new AbortController().signal)) {
					expect(chunk.type).toBe("parts");
					break;
				}
				await tested.server.requests[0]?.closed;
			});

			it("is not read while nobody pulls", async () => {
				const total = 64 * 1024 * 1024;
				const piece = subject.delta("x".repeat(1000)).repeat(64);
				let written = 0;
				tested.server.answerNext(async (response) => {
					const gone = once(response, "close");
					response.writeHead(200, { "content-type": "text/event-stream" });
					response.write(subject.start);
					while (written < total && !response.destroyed) {
						written += piece.length;
						if (!response.write(piece)) await Promise.race([once(response, "drain"), gone]);
					}
					response.end(subject.end);
				});
				const controller = new AbortController();
				const model = await create();
				const iterator = model.stream(plainRequest, controller.signal)[Symbol.asyncIterator]();
				await iterator.next();
				// Stands still once the buffers of both sides are full; only time can show that nothing more happens.
				let before = -1;
				while (written !== before) {
					before = written;
					await new Promise((resolve) => setTimeout(resolve, 100));
				}
				expect(written).toBeLessThan(total / 4);
				controller.abort();
				await tested.server.requests[0]?.closed;
			});
		});
	});
}

/** What a body has anywhere under a key. */
function valuesOf(body: unknown, name: string): unknown[] {
	if (Array.isArray(body)) return body.flatMap((each) => valuesOf(each, name));
	if (!isRecord(body)) return [];
	return Object.entries(body).flatMap(([key, value]) => [...(key === name ? [value] : []), ...valuesOf(value, name)]);
}

/** The arguments of calls in a body, under the keys of all providers. */
function callArguments(body: unknown): unknown[] {
	if (Array.isArray(body)) return body.flatMap(callArguments);
	if (!isRecord(body)) return [];
	return Object.entries(body).flatMap(([key, value]) => {
		if (key === "arguments" && typeof value === "string") return [JSON.parse(value)];
		return key === "args" || (key === "input" && isRecord(value)) ? [value] : callArguments(value);
	});
}

function withMoreBetween(events: readonly string[], unknownEvent: string): string {
	return events.flatMap((event) => [": processing\n\n", `${unknownEvent}\n\n`, event]).join("");
}

/**
 * What is added to a refusal: whose key it was, and for Kimi's platform that it may have been the client's name; and the
 * address, unless the message is about a model.
 */
function withNotes(
	message: string,
	status: number,
	{ providerType, model }: Pick<ModelSettings, "providerType" | "model">,
	url: URL | null = null,
): string {
	if (status === 404 && url !== null && /^model: \S+$/.test(message))
		return `The model ${JSON.stringify(model)} was not found at ${url.host}.`;
	if (status === 404 && url !== null && !/\bmodels?\b/.test(message)) return `${message} ${addressNote(url)}`;
	if (status !== 401 && status !== 403) return message;
	const noted = `${message.replace(/\.$/, "")}. The key for the provider "mine" comes from providers.mine.api_key.`;
	return status === 403 && providerType === "kimi" ? `${noted} ${admission}` : noted;
}

function addressNote({ origin, pathname }: URL): string {
	return `The request was made to ${origin}${pathname}: check that this is right, or correct the provider's base_url in the configuration.`;
}

const admission =
	"The platform may admit clients by name and answer all others with 403; agentwire gives its own name and does not pose as another client (docs/guides/login.md).";

function messageOf(body: RecordedError["body"]): string {
	const [first] = [body ?? []].flat();
	const error = first?.error;
	return (typeof error === "string" ? error : error?.message) ?? first?.message ?? "";
}
