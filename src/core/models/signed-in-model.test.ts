import { describe, expect, it, onTestFinished } from "vitest";
import { describeModelContract } from "../../../test/contracts/model-contract.ts";
import { collectChunks, plainRequest } from "../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../test/support/models/model-settings.ts";
import {
	type AnswerRequest,
	type ProviderServer,
	readProviderFixture,
	sendEvents,
	sendJson,
	startProviderServer,
} from "../../../test/support/models/provider-server.ts";
import { createDeferred } from "../../base/deferred.ts";
import { ModelConfigurationError } from "./model-settings.ts";
import { createSignedInModel, type KeyAnswer, type KeySource } from "./signed-in-model.ts";

const never = new AbortController().signal;
const refused = sendJson(401, {}, { error: { message: "Invalid Authentication for key-1-secret" } });
const answer = sendEvents(
	'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
);

async function startProvider(): Promise<ProviderServer> {
	const provider = await startProviderServer();
	onTestFinished(() => provider.close());
	return provider;
}

/** A sign-in whose keys come one after the other; `refusals` lists those that were refused. */
function createKeys(...keys: readonly string[]): KeySource & { readonly refusals: readonly string[] } {
	const left = [...keys];
	const refusals: string[] = [];
	return {
		loginCommand: "kimi login",
		refusals,
		current: async () => ({ ok: true, key: left[0] ?? "" }),
		async renewed(key) {
			refusals.push(key);
			left.shift();
			const next = left[0];
			return next === undefined ? { ok: false, reason: "It is not renewed any more." } : { ok: true, key: next };
		},
	};
}

async function stream(provider: ProviderServer, keys: KeySource, signal = never) {
	const model = await createSignedInModel({ ...plainModelSettings, baseUrl: provider.url, apiKey: "not-this" }, keys);
	return await collectChunks(model.stream(plainRequest, signal));
}

const sentKeys = ({ requests }: ProviderServer) => requests.map(({ headers }) => headers.authorization);

describe("a model with a sign-in", () => {
	it("sends the current key", async () => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret");
		provider.answerNext(answer);
		provider.answerNext(answer);
		let key = "key-1-secret";
		const changing: KeySource = { ...keys, current: async () => ({ ok: true, key }) };
		const model = await createSignedInModel({ ...plainModelSettings, baseUrl: provider.url }, changing);
		for (const next of ["key-1-secret", "key-2-secret"]) {
			key = next;
			const chunks = await collectChunks(model.stream(plainRequest, never));
			expect(chunks.map(({ type }) => type)).toEqual(["parts", "done"]);
		}
		expect(sentKeys(provider)).toEqual(["Bearer key-1-secret", "Bearer key-2-secret"]);
	});

	it("retries once with another key when one is refused, without events of the first attempt", async () => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret", "key-2-secret");
		provider.answerNext(refused);
		provider.answerNext(answer);
		const chunks = await stream(provider, keys);
		expect(chunks).toEqual([
			{ type: "parts", parts: [{ type: "text", text: "Hi" }] },
			{ type: "done", usage: null, messageId: "c" },
		]);
		expect(sentKeys(provider)).toEqual(["Bearer key-1-secret", "Bearer key-2-secret"]);
		expect(keys.refusals).toEqual(["key-1-secret"]);
	});

	it("says how to sign in when the other key is refused too", async () => {
		const provider = await startProvider();
		provider.answerNext(refused);
		provider.answerNext(sendJson(401, {}, { error: { message: "Invalid key-2-secret." } }));
		expect(await stream(provider, createKeys("key-1-secret", "key-2-secret", "key-3-secret"))).toEqual([
			{
				type: "failed",
				failure: {
					kind: "login",
					message: 'The provider refuses the sign-in: Invalid [redacted]. Run "kimi login" to sign in again.',
					statusCode: 401,
					retryAfter: null,
				},
			},
		]);
		expect(provider.requests).toHaveLength(2);
	});

	it("reports why there is no other key", async () => {
		const provider = await startProvider();
		provider.answerNext(refused);
		expect(await stream(provider, createKeys("key-1-secret"))).toEqual([
			{
				type: "failed",
				failure: {
					kind: "login",
					message: 'It is not renewed any more. Run "kimi login" to sign in again.',
					statusCode: 401,
					retryAfter: null,
				},
			},
		]);
	});

	it("sends no request without a sign-in", async () => {
		const provider = await startProvider();
		const nobody: KeyAnswer = { ok: false, reason: "Nobody is signed in." };
		const keys = { ...createKeys(), current: async () => nobody };
		expect(await stream(provider, keys)).toEqual([
			{
				type: "failed",
				failure: {
					kind: "login",
					message: 'Nobody is signed in. Run "kimi login" to sign in again.',
					statusCode: null,
					retryAfter: null,
				},
			},
		]);
		expect(provider.requests).toEqual([]);
	});

	it("returns HTTP 403, and says that the platform may admit clients by name", async () => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret", "key-2-secret");
		provider.answerNext(sendJson(403, {}, { error: { message: "no" } }));
		const message = expect.stringMatching(/^no\. The platform may admit clients by name .*\.$/);
		expect(await stream(provider, keys)).toEqual([
			{ type: "failed", failure: { kind: "status", message, statusCode: 403, retryAfter: null } },
		]);
		expect(keys.refusals).toEqual([]);
	});

	it.each([400, 429, 500])("returns HTTP %i", async (status) => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret", "key-2-secret");
		provider.answerNext(sendJson(status, {}, { error: { message: "no" } }));
		expect(await stream(provider, keys)).toEqual([
			{ type: "failed", failure: { kind: "status", message: "no", statusCode: status, retryAfter: null } },
		]);
		expect(keys.refusals).toEqual([]);
	});

	it("does not retry an answer that has begun", async () => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret", "key-2-secret");
		provider.answerNext(
			sendEvents(
				'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: {"error":{"message":"gone","code":401}}\n\n',
				{ chunkSize: 70 },
			),
		);
		expect(await stream(provider, keys)).toEqual([
			{ type: "parts", parts: [{ type: "text", text: "Hi" }] },
			{
				type: "failed",
				failure: {
					kind: "login",
					message: 'The provider refuses the sign-in: gone. Run "kimi login" to sign in again.',
					statusCode: 401,
					retryAfter: null,
				},
			},
		]);
		expect(provider.requests).toHaveLength(1);
	});

	it("stops waiting for a key at an abort", async () => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret");
		const hanging = new Promise<KeyAnswer>(() => {});
		const asked = createDeferred<void>();
		const hang = () => {
			asked.resolve();
			return hanging;
		};
		for (const source of [
			{ ...keys, current: hang },
			{ ...keys, renewed: hang },
		]) {
			const stopping = new AbortController();
			provider.answerNext(refused);
			const streamed = stream(provider, source, stopping.signal);
			await asked.promise;
			setImmediate(() => stopping.abort());
			const chunks = await streamed;
			expect(chunks).toEqual([]);
		}
	});

	it("uploads videos with the current key, and with another one when it is refused", async () => {
		const provider = await startProvider();
		const keys = createKeys("key-1-secret", "key-2-secret");
		const model = await createSignedInModel({ ...plainModelSettings, baseUrl: provider.url }, keys);
		provider.answerNext(refused);
		provider.answerNext(sendJson(200, {}, { id: "file-1" }));
		const video = { name: "a.mp4", mediaType: "video/mp4", bytes: new Uint8Array([1]) };
		expect(await model.uploadVideo?.(video, never)).toMatchObject({ ok: true, url: expect.stringContaining("file-1") });
		expect(sentKeys(provider)).toEqual(["Bearer key-1-secret", "Bearer key-2-secret"]);
		expect(keys.refusals).toEqual(["key-1-secret"]);
	});

	it("uploads no videos when the provider accepts them in messages", async () => {
		const settings = { ...plainModelSettings, providerType: "openai_legacy" } as const;
		expect((await createSignedInModel(settings, createKeys("key-1-secret"))).uploadVideo).toBeUndefined();
	});

	it("cannot be created with invalid settings", async () => {
		const settings = { ...plainModelSettings, providerType: "_scripted_echo" } as const;
		await expect(createSignedInModel(settings, createKeys("k"))).rejects.toThrow(ModelConfigurationError);
	});
});

describeModelContract("signed in", async (scenario) => {
	const provider = await startProviderServer();
	const answers: Record<typeof scenario, AnswerRequest> = {
		answers: sendEvents(readProviderFixture("kimi-stream.sse")),
		fails: sendJson(400, {}, { error: { message: "no" } }),
		long: sendEvents('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', { ending: "hang" }),
	};
	provider.answerNext(refused);
	provider.answerNext(answers[scenario]);
	const model = await createSignedInModel(
		{ ...plainModelSettings, baseUrl: provider.url },
		createKeys("key-1-secret", "key-2-secret"),
	);
	return { model, requestsSeen: () => Math.max(0, provider.requests.length - 1), close: () => provider.close() };
});
