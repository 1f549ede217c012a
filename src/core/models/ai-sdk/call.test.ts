// The adapter of packages, with packages that misbehave: it must report what really happened on the wire.
import type { LanguageModelV3, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { collectChunks, plainRequest } from "../../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import { createFailure, type ModelChunk } from "../model.ts";
import { type PackageAdapter, streamFromPackage } from "./call.ts";
import { toModelFailure } from "./failures.ts";

const usage = {
	inputTokens: { total: 4, noCache: 4, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish: LanguageModelV3StreamPart = { type: "finish", usage, finishReason: { unified: "other", raw: undefined } };

class PackageError extends Error {
	readonly statusCode: number | undefined;
	constructor(name: string, message: string, options: { cause?: unknown; statusCode?: number } = {}) {
		super(message, { cause: options.cause });
		this.name = name;
		this.statusCode = options.statusCode;
	}
}

/**
 * A package that sends `{ "sent": true }`, returns every event as text, and ends every stream as if it were complete.
 */
function createPackage(fetch: typeof globalThis.fetch, changed: Partial<LanguageModelV3> = {}): LanguageModelV3 {
	return {
		specificationVersion: "v3",
		provider: "maker",
		modelId: "m1",
		supportedUrls: {},
		doGenerate: () => Promise.reject(new Error("not used")),
		async doStream() {
			const response = await fetch("https://api.maker/v1", {
				method: "POST",
				headers: { "X-Beta": "b" },
				body: '{"sent":true}',
			});
			const events = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).pipeThrough(
				new TransformStream<string, LanguageModelV3StreamPart>({
					transform: (delta, stream) => stream.enqueue({ type: "text-delta", id: "t", delta }),
					flush: (stream) => stream.enqueue(finish),
				}),
			);
			return { stream: events };
		},
		...changed,
	};
}

interface Sent {
	readonly url: string;
	readonly init: RequestInit | undefined;
}

/** Streams through the package, with a `fetch` that answers with these events. */
async function stream(
	events: string,
	changed: Partial<PackageAdapter> = {},
	changedPackage: Partial<LanguageModelV3> = {},
): Promise<{ chunks: ModelChunk[]; sent: Sent[] }> {
	const sent: Sent[] = [];
	const fetch: typeof globalThis.fetch = async (input, init) => {
		sent.push({ url: String(input), init });
		return new Response(events, { headers: { "content-type": "text/event-stream" } });
	};
	const adapter: PackageAdapter = {
		memory: { origin: "maker", key: "maker", names: { thought: [], text: [], call: [] } },
		call: { prompt: [] },
		createModel: (given) => createPackage(given, changedPackage),
		toRequest: ({ headers, body }) => ({
			url: new URL("https://elsewhere/v2"),
			headers: new Headers({ beta: headers["x-beta"] ?? "" }),
			body: { body, mended: true },
		}),
		readEvent: ({ data }) => {
			if (data === "end") return { kind: "last", data: ["."] };
			if (data === "bad") return { kind: "failed", failure: createFailure("status", "bad", 529) };
			return data === "ping" ? { kind: "skip" } : { kind: "pass", data: [data] };
		},
		toFailure: ({ status }) => createFailure("status", "no", status),
		whyEmpty: () => null,
		...changed,
	};
	const signal = new AbortController().signal;
	const settings = { ...plainModelSettings, network: { ...plainModelSettings.network, fetch } };
	const chunks = await collectChunks(streamFromPackage(settings, () => adapter, plainRequest, signal));
	return { chunks, sent };
}

const data = (...events: string[]): string => events.map((event) => `data: ${event}\n\n`).join("");
const textOf = (chunks: readonly ModelChunk[]): string =>
	chunks
		.flatMap((chunk) => (chunk.type === "parts" ? chunk.parts : []))
		.map((part) => (part.type === "text" ? part.text : "?"))
		.join("");
const failure = (kind: string, message: string, statusCode: number | null = null) => ({
	type: "failed",
	failure: { kind, message, statusCode, retryAfter: null },
});

describe("a request through a package", () => {
	it("is sent once, as changed by the adapter", async () => {
		const { sent } = await stream(data("a", "end"));
		expect(sent).toHaveLength(1);
		expect(sent[0]).toMatchObject({
			url: "https://elsewhere/v2",
			init: { body: '{"body":{"sent":true},"mended":true}' },
		});
		expect(new Headers(sent[0]?.init?.headers).get("beta")).toBe("b");
	});

	it("returns the events that the adapter accepts, up to its end marker", async () => {
		const { chunks } = await stream(data("ping", "a", "ping", "two\ndata: lines", "end", "b"));
		expect(textOf(chunks)).toBe("data: a\n\ndata: two\ndata: lines\n\ndata: .\n\n");
		expect(chunks.at(-1)).toEqual({
			type: "done",
			usage: { input_other: 4, output: 1, input_cache_read: 0, input_cache_creation: 0 },
			messageId: null,
		});
	});

	it.each([
		[
			"ends without its end marker",
			data("a"),
			failure("connection", "The provider's stream ended before the answer was complete."),
		],
		["has an error in it", data("a", "bad", "end"), failure("status", "bad", 529)],
	])("fails when the stream %s, whatever the package reports", async (_name, events, expected) => {
		const { chunks } = await stream(events);
		expect([textOf(chunks), chunks.at(-1)]).toEqual(["data: a\n\n", expected]);
	});

	it("fails when the package ends the answer without a finish part", async () => {
		const { chunks } = await stream(data("end"), {}, { doStream: async () => ({ stream: streamOf([]) }) });
		expect(chunks).toEqual([failure("provider", "The provider ended the answer without saying how.")]);
	});

	it("reports why an answer is empty, when the adapter knows", async () => {
		const doStream = async () => ({ stream: streamOf([finish]) });
		const { chunks } = await stream("", { whyEmpty: ({ finishReason }) => finishReason.unified }, { doStream });
		expect(chunks).toEqual([failure("provider", "other")]);
	});

	it("fails without throwing when the package or the adapter throws", async () => {
		const refuse = () => Promise.reject(new PackageError("AI_UnsupportedFunctionalityError", "No films."));
		expect((await stream("", {}, { doStream: refuse })).chunks).toEqual([failure("provider", "No films.")]);
		const toRequest = () => {
			throw new Error("oops");
		};
		expect((await stream("", { toRequest })).chunks).toEqual([failure("defect", "oops")]);
	});
});

function streamOf(parts: readonly LanguageModelV3StreamPart[]): ReadableStream<LanguageModelV3StreamPart> {
	return new ReadableStream({
		start(stream) {
			for (const part of parts) stream.enqueue(part);
			stream.close();
		},
	});
}

describe("an error of a package", () => {
	it.each([
		["a status", new PackageError("AI_APICallError", "busy", { statusCode: 503 }), ["status", "busy", 503]],
		[
			"an answer it cannot read",
			new PackageError("AI_APICallError", "what?", { statusCode: 200 }),
			["provider", "what?", null],
		],
		["a refusal", new PackageError("AI_InvalidPromptError", "no"), ["provider", "no", null]],
		["anything else", new TypeError("x is undefined"), ["defect", "x is undefined", null]],
		["no error at all", "text", ["defect", "text", null]],
	])("is reported: %s", (_name, thrown, [kind, message, statusCode]) => {
		expect(toModelFailure(thrown)).toEqual({ kind, message, statusCode, retryAfter: null });
	});
});
