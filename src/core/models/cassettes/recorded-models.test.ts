import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemoryCassette, noProvider } from "../../../../test/support/models/memory-cassette.ts";
import { collectChunks, partsOf, weatherRequest } from "../../../../test/support/models/model-conversation.ts";
import { createManualClock, plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import {
	type ProviderServer,
	readProviderFixture,
	sendEvents,
	sendJson,
	startProviderServer,
} from "../../../../test/support/models/provider-server.ts";
import type { ModelSettings } from "../model-settings.ts";
import { createModel } from "../registry.ts";
import { parseFault, withFaults } from "./faults.ts";

let provider: ProviderServer;
beforeEach(async () => {
	provider = await startProviderServer();
});
afterEach(() => provider.close());

const shapes = [
	["anthropic", "claude-x", "anthropic-stream.sse", "anthropic"],
	["openai_legacy", "gpt-x", "openai-chat-stream.sse", "openai-chat"],
	["openai_responses", "gpt-x", "responses-stream.sse", "openai-responses"],
	["gemini", "gemini-x", "gemini-stream.sse", "gemini"],
	["kimi", "kimi-k2.6", "kimi-stream.sse", "openai-chat"],
] as const;

async function ask(
	fetch: ModelSettings["network"]["fetch"],
	[providerType, model]: readonly [ModelSettings["providerType"], string, ...unknown[]],
	more: Partial<ModelSettings> = {},
	request = weatherRequest,
) {
	const created = await createModel({
		...plainModelSettings,
		...{ providerType, model, baseUrl: provider.url },
		network: { fetch, openConnection: async () => {} },
		...more,
	});
	return await collectChunks(created.stream(request, new AbortController().signal));
}

describe.each(shapes)("the answer of %s", (...shape) => {
	const [, , fixture, shapeName] = shape;

	it("is replayed as it was recorded, without its provider and without its key", async () => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendEvents(readProviderFixture(fixture), { chunkSize: 333 }));
		const recorded = await ask(cassette.open("record"), shape);
		expect(recorded.at(-1)).toMatchObject({ type: "done" });
		expect(cassette.lines()).toMatchObject([{ v: 1, provider: shapeName, response: { status: 200, end: "complete" } }]);
		expect(cassette.text).not.toContain(plainModelSettings.apiKey);
		const replay = cassette.open("replay", { forward: noProvider });
		const other = { ...weatherRequest, cacheKey: "another session" };
		const placed = { baseUrl: "https://elsewhere.example/v1", apiKey: "another-key-9876" };
		expect(await ask(replay, shape, placed, other)).toEqual(recorded);
		expect(provider.requests).toHaveLength(1);
		expect(cassette.reports).toEqual([]);
	});

	it("is missed with the place of a changed system prompt", async () => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendEvents(readProviderFixture(fixture)));
		await ask(cassette.open("record"), shape);
		const changed = { ...weatherRequest, systemPrompt: "Be terse." };
		const replay = cassette.open("replay", { forward: noProvider });
		const [failed] = await ask(replay, shape, {}, changed);
		const pointers = {
			anthropic: "/body/system/0/text",
			"openai-chat": "/body/messages/0/content",
			"openai-responses": "/body/instructions",
			gemini: "/body/systemInstruction/parts/0/text",
		};
		const message = `The nearest is line 1. First difference: ${pointers[shapeName]}, character 4\n- recorded: "Be brief."\n+ received: "Be terse."`;
		expect(failed).toMatchObject({ type: "failed", failure: { kind: "status", statusCode: 422 } });
		expect(failed).toHaveProperty("failure.message", expect.stringContaining(message));
		expect(cassette.reports).toEqual([expect.stringContaining(message)]);
	});

	it("comes whole when characters are split", async () => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendEvents(readProviderFixture(fixture)));
		const recorded = await ask(cassette.open("record"), shape);
		const pieces: Uint8Array[] = [];
		const replay = faulty(cassette.open("replay"), "split");
		const split = await ask(replay, shape);
		expect([partsOf(split), split.at(-1)]).toEqual([partsOf(recorded), recorded.at(-1)]);
		const response = await replay(...requestOf(cassette.lines()[0], shape));
		for await (const piece of response.body ?? []) pieces.push(piece);
		expect(Buffer.concat(pieces).toString()).toBe(readProviderFixture(fixture));
	});

	it.each([
		["cut@1", { kind: "connection", statusCode: null }],
		["cut=0@1", { kind: "connection", statusCode: null }],
		["429=7@1", { kind: "status", statusCode: 429, retryAfter: 7000 }],
		["503@1", { kind: "status", statusCode: 503 }],
		["stall@1", { kind: "timeout", statusCode: null }],
		["stall=0@1", { kind: "timeout", statusCode: null }],
	])("fails on demand: %s", async (fault, failure) => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendEvents(readProviderFixture(fixture)));
		const recorded = await ask(cassette.open("record"), shape);
		const replay = faulty(cassette.open("replay"), fault);
		const clock = createManualClock();
		if (fault.startsWith("stall")) void clock.expireNext(444);
		const failed = await ask(replay, shape, { clock, timeouts: { response: 300_000, idle: 444 } });
		expect(failed.at(-1)).toMatchObject({ type: "failed", failure });
		// Only the first request was meant.
		expect(await ask(replay, shape)).toEqual(recorded);
		expect(cassette.reports).toEqual([]);
	});
});

function faulty(fetch: typeof globalThis.fetch, text: string) {
	const fault = parseFault(text);
	if (fault === null) throw new Error(text);
	return withFaults(fetch, [fault]);
}

/** The recorded request again. */
function requestOf(line: unknown, [, , , shapeName]: readonly string[]): [URL, RequestInit] {
	const { request } = line as { request: { path: string; body: unknown } };
	return [
		new URL(`https://${shapeName}.example/v1/${request.path}`),
		{ method: "POST", body: JSON.stringify(request.body) },
	];
}

describe("a cassette", () => {
	const events = (text: string) => readProviderFixture("anthropic-stream.sse").replaceAll("Oslo", text);
	const answer = async (fetch: typeof globalThis.fetch, content = "Hi", headers = {}) => {
		const body = JSON.stringify({ messages: [{ role: "user", content }] });
		const response = await fetch(`${provider.url}/v1/messages`, { method: "POST", body, headers });
		return { status: response.status, text: await response.text() };
	};

	it("plays answers to equal requests in their order, and then the last one again", async () => {
		const cassette = createMemoryCassette();
		const record = cassette.open("record");
		provider.answerNext(sendJson(429, { "retry-after": "1" }, { error: { message: "slow down" } }));
		provider.answerNext(sendJson(200, {}, "one"));
		const recorded = [await answer(record), await answer(record)];
		const replay = cassette.open("replay");
		expect([await answer(replay), await answer(replay), await answer(replay)]).toEqual([...recorded, recorded[1]]);
		expect(cassette.lines()).toMatchObject([{ response: { headers: { "retry-after": "1" } } }, {}]);
	});

	it("gets what is missing with replay-or-record, and begins again with record", async () => {
		const cassette = createMemoryCassette();
		for (const text of ["one", "two", "three"]) provider.answerNext(sendJson(200, {}, text));
		await answer(cassette.open("record"), "a");
		const both = cassette.open("replay-or-record");
		expect([(await answer(both, "a")).text, (await answer(both, "b")).text]).toEqual(['"one"', '"two"']);
		expect(cassette.lines()).toHaveLength(2);
		await answer(cassette.open("record"), "b");
		expect(cassette.lines()).toMatchObject([{ response: { chunks: [{ text: '"three"' }] } }]);
		await expect(answer(cassette.open("passthrough", { forward: noProvider }))).rejects.toThrow("A provider was asked");
	});

	it("has no keys, also where a provider quotes them or a tool showed them", async () => {
		const cassette = createMemoryCassette();
		const secret = "opaque0123456789";
		provider.answerNext(sendJson(401, {}, { error: { message: `wrong key ${secret}` } }));
		const headers = { authorization: `Bearer ${secret}` };
		const recorded = await answer(cassette.open("record"), `API_KEY=sk-abcdefgh123 ${secret}`, headers);
		expect(recorded.text).toContain(secret);
		expect(cassette.text).not.toMatch(/opaque|sk-abc/);
		expect((await answer(cassette.open("replay"), `API_KEY=sk-other00000 ${secret}`, headers)).status).toBe(401);
	});

	it("does not depend on times, ids and places", async () => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendJson(200, {}, "one"));
		const said = (place: string, id: string, time: string) => `in ${place}/src and ${place}2, ${id} at ${time}, `;
		const [one, other] = ["123e4567-e89b-12d3-a456-426614174000", "023e4567-e89b-12d3-a456-426614174fff"];
		const record = cassette.open("record", { replacements: [["/work/a", "<work>"]] });
		await answer(record, said("/work/a", one, "2026-11-28T19:06:17.123Z").replace("/work/a2", "/same2"));
		const replay = cassette.open("replay", { replacements: [["/home/b.c", "<work>"]] });
		const moved = said("/home/b.c", other, "2027-01-02 03:04").replace("/home/b.c2", "/same2");
		expect((await answer(replay, moved)).status).toBe(200);
		expect((await answer(replay, said("/home/b.c", other, "now"))).status).toBe(422);
	});

	it("keeps the times of a stream, and scales them", async () => {
		const cassette = createMemoryCassette();
		cassette.text = `${JSON.stringify({
			v: 1,
			provider: "anthropic",
			request: { path: "messages", body: { messages: [{ role: "user", content: "Hi" }] } },
			response: {
				status: 200,
				headers: {},
				chunks: [
					{ dt: 300, text: "a" },
					{ dt: 500, base64: "4oI=" },
					{ dt: 0, base64: "rA==" },
				],
				end: "complete",
			},
		})}\n`;
		for (const [timeScale, waits] of [
			[1, [300, 500]],
			[0.5, [150, 250]],
			[0, []],
		] as const) {
			const waited: number[] = [];
			const clock = {
				now: () => 0,
				monotonic: () => 0,
				after(milliseconds: number, callback: () => void) {
					waited.push(milliseconds);
					setImmediate(callback);
					return () => {};
				},
			};
			expect(await answer(cassette.open("replay", { timeScale, clock }))).toEqual({ status: 200, text: "a€" });
			expect(waited).toEqual(waits);
		}
	});

	it("keeps how an answer was cut, or left", async () => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendEvents(events("Bergen"), { ending: "cut" }));
		await expect(answer(cassette.open("record"))).rejects.toThrow();
		expect(cassette.lines()).toMatchObject([{ response: { end: "cut" } }]);
		await expect(answer(cassette.open("replay", { forward: noProvider }))).rejects.toThrow("as it was recorded");

		provider.answerNext(sendEvents(events("Bergen"), { ending: "hang" }));
		const left = createMemoryCassette();
		const controller = new AbortController();
		const leave = async (fetch: typeof globalThis.fetch) => {
			const response = await fetch(`${provider.url}/v1/messages`, {
				method: "POST",
				body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }] }),
			});
			const reader = response.body?.getReader();
			expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
			await reader?.cancel();
		};
		let saved: () => void = () => {};
		const isSaved = new Promise<void>((resolve) => {
			saved = resolve;
		});
		const file = { ...left, replace: async (text: string) => left.replace(text).then(saved) };
		await leave(left.open("record", { file }));
		await isSaved;
		expect(left.lines()).toMatchObject([{ response: { end: "left" } }]);
		await leave(left.open("replay", { forward: noProvider }));
		controller.abort();
	});

	it("says what is wrong with a file, and with requests that cannot be in one", async () => {
		const cassette = createMemoryCassette();
		const refused = async (text: string) => {
			cassette.text = text;
			return (await answer(cassette.open("replay", { forward: noProvider }))).text;
		};
		expect(await refused("")).toContain("No recording in a.jsonl matches request 1 (messages). It has no recordings");
		expect(await refused("{\n")).toContain("Line 1 of a.jsonl is not JSON");
		expect(await refused('\n{"v":2}\n')).toContain("Line 2 of a.jsonl has format 2; this version reads 1");
		expect(await refused('{"v":1}\n')).toContain("Line 1 of a.jsonl is not a recording: provider: ");
		const fetch = cassette.open("replay", { forward: noProvider });
		const upload = await fetch(`${provider.url}/v1/files`, { method: "POST", body: "--boundary" });
		expect(await upload.text()).toContain("a body that is not JSON, which is never recorded");
	});

	it("gives the answer also where it cannot be written", async () => {
		const cassette = createMemoryCassette();
		provider.answerNext(sendJson(200, {}, "one"));
		const file = { ...cassette, replace: () => Promise.reject(new Error("the disk is full")) };
		expect((await answer(cassette.open("record", { file }))).text).toBe('"one"');
		expect(cassette.reports).toEqual(["The cassette a.jsonl cannot be written: the disk is full."]);
	});

	it("names the nearest of several recordings, and how much differs", async () => {
		const cassette = createMemoryCassette();
		for (const text of ["one", "two"]) provider.answerNext(sendJson(200, {}, text));
		const record = cassette.open("record");
		await answer(record, "Write a poem about rain");
		await answer(record, "Fix the build");
		const replay = cassette.open("replay");
		const body = JSON.stringify({ messages: [{ role: "user", content: "Fix the build" }], stream: true, tools: [] });
		const { status } = await replay(`${provider.url}/v1/messages`, { method: "POST", body });
		expect(status).toBe(422);
		expect(cassette.reports[0]).toMatch(
			/The nearest is line 2\. First difference, of 2: \/body\/stream\n- recorded: \(nothing\)\n\+ received: true\n/,
		);
	});
});

describe("parseFault", () => {
	it.each(["", "cut=", "cut=x", "split=1", "404", "@1", "429@0", "cut@1@2", "5000"])("refuses %j", (text) => {
		expect(parseFault(text)).toBeNull();
	});
});
