// What every adapter promises of a provider's stream, whatever its protocol: bytes as they come, cuts, errors, deadlines
// and the socket. Run from a test beside each adapter, against a provider on loopback.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Model, ModelChunk, ModelFailure, ModelPart } from "../../src/models/model.ts";
import type { ModelSettings } from "../../src/models/model-settings.ts";
import { createModel } from "../../src/models/registry.ts";
import { createManualClock, plainModelSettings } from "../support/model-settings.ts";
import {
	type AnswerRequest,
	type ProviderServer,
	readProviderFixture,
	sendEvents,
	sendJson,
	sendText,
	startProviderServer,
} from "../support/provider-server.ts";
import { collectChunks, contractRequest } from "./model-contract.ts";

export interface ProviderSubject {
	/** The adapter and its model; the base URL is the server's root. */
	readonly settings: Pick<ModelSettings, "providerType" | "model"> & Partial<ModelSettings>;
	/** A whole stream of the provider, what it holds, and its last chunk. */
	readonly stream: string;
	readonly parts: readonly ModelPart[];
	readonly last: ModelChunk;
	/** What comes before the text of `delta`, one event with a text, and what ends the answer after it. */
	readonly start: string;
	readonly delta: (text: string) => string;
	readonly end: string;
	/** An event that no version of the protocol has. */
	readonly unknownEvent: string;
	/** The name of the recorded errors, and what they mean where that is not their status. */
	readonly errors: string;
	readonly failures?: Readonly<Record<string, Partial<ModelFailure>>>;
}

interface ErrorBody {
	readonly error: { readonly message: string };
}

interface RecordedError {
	readonly case: string;
	readonly status: number;
	readonly headers: Record<string, string>;
	readonly body?: ErrorBody | ErrorBody[];
	readonly sse?: readonly string[];
}

export function describeProvider(name: string, subject: ProviderSubject): void {
	let server: ProviderServer;
	beforeEach(async () => {
		server = await startProviderServer();
	});
	afterEach(() => server.close());

	const create = (settings: Partial<ModelSettings> = {}): Promise<Model> =>
		createModel({ ...plainModelSettings, ...subject.settings, baseUrl: server.url, ...settings });
	const ask = async (answer: AnswerRequest, settings: Partial<ModelSettings> = {}): Promise<ModelChunk[]> => {
		server.answerNext(answer);
		const model = await create(settings);
		return await collectChunks(model.stream(contractRequest, new AbortController().signal));
	};
	const partsOf = (chunks: readonly ModelChunk[]): ModelPart[] =>
		chunks.flatMap((chunk) => (chunk.type === "parts" ? chunk.parts : []));
	const text = (value: string): ModelPart => ({ type: "text", text: value });

	describe(`provider: ${name}`, () => {
		describe("the recorded stream", () => {
			const variants: [name: string, text: string][] = [
				["LF", subject.stream],
				["CRLF", subject.stream.replaceAll("\n", "\r\n")],
				["CR", subject.stream.replaceAll("\n", "\r")],
				["comments and unknown events", withMoreBetween(subject.stream, subject.unknownEvent)],
				["no blank line at the end", subject.stream.trimEnd()],
			];
			const cases = variants.flatMap(([variant, stream]) =>
				[1, 2, 3, 7, undefined].map((size) => [variant, size ?? "all", stream, size] as const),
			);
			it.each(cases)("is the same with %s in writes of %s bytes", async (_name, _size, stream, chunkSize) => {
				const chunks = await ask(sendEvents(stream, chunkSize === undefined ? {} : { chunkSize }));
				expect([partsOf(chunks), chunks.at(-1)]).toEqual([subject.parts, subject.last]);
			});

			it("is incomplete when it ends after any event but the last", async () => {
				const events = subject.stream.trimEnd().split("\n\n");
				for (let count = 0; count < events.length; count++) {
					const start = events.slice(0, count).map((event) => `${event}\n\n`);
					const chunks = await ask(sendEvents(start.join("")));
					expect([count, chunks.at(-1)]).toMatchObject([count, { failure: { kind: "connection", statusCode: null } }]);
					const parts = partsOf(chunks);
					expect(parts).toEqual(subject.parts.slice(0, parts.length));
				}
			});

			it("is incomplete when the socket is cut inside an event", async () => {
				const start = subject.stream.slice(0, subject.stream.lastIndexOf("data:") + 9);
				const chunks = await ask(sendEvents(start, { ending: "cut" }));
				expect(chunks.at(-1)).toMatchObject({ type: "failed", failure: { kind: "connection", statusCode: null } });
			});

			it("waits for nothing behind its end mark", async () => {
				const chunks = await ask(sendEvents(subject.stream, { ending: "hang" }));
				expect([partsOf(chunks), chunks.at(-1)]).toEqual([subject.parts, subject.last]);
				await server.requests[0]?.closed;
			});
		});

		describe("errors", () => {
			const recorded = readProviderFixture(subject.errors)
				.trim()
				.split("\n")
				.map((line): RecordedError => JSON.parse(line));

			it.each(recorded.filter(({ body }) => body !== undefined))("are told: $case", async (error) => {
				const chunks = await ask(sendJson(error.status, error.headers, error.body));
				const expected = { kind: "status", statusCode: error.status, ...subject.failures?.[error.case] };
				const message = withKeyNote(messageOf(error.body), error.status);
				expect(chunks).toMatchObject([{ type: "failed", failure: { message, ...expected } }]);
				expect(server.requests).toHaveLength(1);
			});

			it.each(recorded.filter(({ sse }) => sse !== undefined))("are told in a stream: $case", async (error) => {
				const event = `${(error.sse ?? []).join("\n")}\n\n`;
				const failed = { type: "failed", failure: subject.failures?.[error.case] };
				expect(await ask(sendEvents(event))).toMatchObject([failed]);
				const chunks = await ask(sendEvents(subject.start + subject.delta("a") + event));
				expect([partsOf(chunks), chunks.at(-1)]).toMatchObject([[text("a")], failed]);
			});

			it.each([
				["a page of a proxy", sendText(502, { "content-type": "text/html" }, "<html>"), "HTTP 502 Bad Gateway", 502],
				["plain text", sendText(503, { "content-type": "text/plain" }, "busy\n"), "busy", 503],
				["nothing", sendText(500, {}, ""), "HTTP 500 Internal Server Error", 500],
				["a redirect", sendText(307, { location: "/elsewhere" }, ""), "HTTP 307 Temporary Redirect", 307],
			])("come as %s", async (_name, answer, message, statusCode) => {
				expect(await ask(answer)).toMatchObject([{ failure: { kind: "status", message, statusCode } }]);
				expect(server.requests).toHaveLength(1);
			});

			it.each([
				["an error", sendJson(200, {}, { error: { message: "no" } }), "no"],
				[
					"a page",
					sendText(200, { "content-type": "text/html" }, "<html>"),
					"The provider answered with text/html instead of an event stream.",
				],
				["an event that is not JSON", sendEvents("data: oops\n\n"), "The provider sent an event that is not JSON."],
			])("come with status 200: %s", async (_name, answer, message) => {
				expect(await ask(answer)).toMatchObject([{ failure: { kind: "provider", message, statusCode: null } }]);
			});

			it("never repeat keys", async () => {
				const message = "bad key test-key-0123456789, Bearer abcdefghijkl, sk-abcdefghijkl, hidden-header-value";
				const chunks = await ask(sendJson(401, {}, { error: { message } }), {
					customHeaders: { "x-key": "hidden-header-value" },
				});
				expect(chunks).toMatchObject([
					{
						failure: {
							message: withKeyNote("bad key [redacted], Bearer [redacted], [redacted], [redacted]", 401),
							statusCode: 401,
						},
					},
				]);
			});

			it("are connection failures when nobody listens", async () => {
				const gone = await startProviderServer();
				await gone.close();
				const model = await create({ baseUrl: gone.url });
				const chunks = await collectChunks(model.stream(contractRequest, new AbortController().signal));
				expect(chunks).toMatchObject([{ type: "failed", failure: { kind: "connection", statusCode: null } }]);
				expect(JSON.stringify(chunks)).toContain("ECONNREFUSED");
			});

			it("tell an unusable base URL, and headers that HTTP forbids without quoting them", async () => {
				const address = await create({ baseUrl: "nowhere" });
				const header = await create({ customHeaders: { "x-key": "secret\nvalue" } });
				for (const [model, message] of [
					[address, "The provider's base_url is not an http(s) URL without credentials."],
					[header, "The provider's api_key or custom_headers hold what HTTP does not allow."],
				] as const) {
					const chunks = await collectChunks(model.stream(contractRequest, new AbortController().signal));
					expect(chunks).toMatchObject([{ failure: { kind: "provider", message } }]);
				}
			});
		});

		describe("deadlines", () => {
			const timeouts = { response: 111_000, idle: 222_000 };

			it("end a request that gets no answer", async () => {
				const clock = createManualClock();
				const asked = ask(async () => {}, { clock, timeouts });
				await clock.expireNext(111_000);
				expect(await asked).toMatchObject([
					{ failure: { kind: "timeout", message: "The provider sent nothing for 111 s." } },
				]);
				await server.requests[0]?.closed;
			});

			it("end an answer that falls silent", async () => {
				const clock = createManualClock();
				const asked = ask(sendEvents(subject.start + subject.delta("a"), { ending: "hang" }), { clock, timeouts });
				while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
				await clock.expireNext(222_000);
				const chunks = await asked;
				expect(chunks.at(-1)).toMatchObject({
					failure: { kind: "timeout", message: "The provider sent nothing for 222 s." },
				});
				await server.requests[0]?.closed;
			});
		});

		describe("the socket", () => {
			it("is closed at once by an abort while the answer stalls", async () => {
				server.answerNext(sendEvents(subject.start + subject.delta("a"), { ending: "hang" }));
				const controller = new AbortController();
				const model = await create();
				const iterator = model.stream(contractRequest, controller.signal)[Symbol.asyncIterator]();
				expect(await iterator.next()).toEqual({ done: false, value: { type: "parts", parts: [text("a")] } });
				const next = iterator.next();
				const aborted = performance.now();
				controller.abort();
				await server.requests[0]?.closed;
				expect(performance.now() - aborted).toBeLessThan(100);
				expect(await next).toEqual({ done: true, value: undefined });
			});

			it("is closed by an abort before the answer begins", async () => {
				const controller = new AbortController();
				server.answerNext(async () => controller.abort());
				const model = await create();
				expect(await collectChunks(model.stream(contractRequest, controller.signal))).toEqual([]);
				await server.requests[0]?.closed;
			});

			it("is closed when the stream is left early", async () => {
				server.answerNext(sendEvents(subject.start + subject.delta("a"), { ending: "hang" }));
				const model = await create();
				for await (const chunk of model.stream(contractRequest, new AbortController().signal)) {
					expect(chunk.type).toBe("parts");
					break;
				}
				await server.requests[0]?.closed;
			});

			it("is not read while nobody pulls", async () => {
				const total = 64 * 1024 * 1024;
				const piece = subject.delta("x".repeat(1000)).repeat(64);
				let written = 0;
				server.answerNext(async (response) => {
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
				const iterator = model.stream(contractRequest, controller.signal)[Symbol.asyncIterator]();
				await iterator.next();
				// Stands still once the buffers of both sides are full; only time can show that nothing more happens.
				let before = -1;
				while (written !== before) {
					before = written;
					await new Promise((resolve) => setTimeout(resolve, 100));
				}
				expect(written).toBeLessThan(total / 4);
				controller.abort();
				await server.requests[0]?.closed;
			});
		});
	});
}

function withMoreBetween(stream: string, unknownEvent: string): string {
	return stream
		.trimEnd()
		.split("\n\n")
		.flatMap((event) => [": processing", unknownEvent, event])
		.join("\n\n")
		.concat("\n\n");
}

/** A refusal for want of rights says whose key it was. */
function withKeyNote(message: string | undefined, status: number): string | undefined {
	const note = 'The key for the provider "mine" is that of providers.mine.api_key.';
	return status === 401 || status === 403 ? `${message?.replace(/\.$/, "")}. ${note}` : message;
}

function messageOf(body: RecordedError["body"]): string | undefined {
	return [body ?? []].flat()[0]?.error.message;
}
