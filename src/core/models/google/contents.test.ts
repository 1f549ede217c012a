import { describe, expect, it } from "vitest";
import { describeProvider } from "../../../../test/contracts/provider-contract.ts";
import {
	collectChunks,
	continued,
	imagePart,
	partsOf,
	piece,
	plainRequest,
	seal,
	text,
	think,
	toolCall,
	weatherRequest,
	weatherResults,
	weatherUsage,
} from "../../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { readProviderFixture, sendEvents, sendJson } from "../../../../test/support/models/provider-server.ts";
import { aborted } from "../../../base/abort.ts";
import { isRecord } from "../../../base/json.ts";
import { modelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { createVertexStream } from "./contents.ts";

const recordedStream = readProviderFixture("gemini-stream.sse");
const settings = { ...plainModelSettings, providerType: "gemini", model: "gemini-3-pro" } as const;
const origin = "google:gemini-3-pro";

const recordedParts = [
	think("Two facts needed."),
	text("Checking both…"),
	toolCall("fxc1", "get_weather", null, { from: origin, kept: { thoughtSignature: "CqFxU2ln" } }),
	piece('{"city":"Oslo"}'),
	toolCall("fxc2", "read_image"),
	piece('{"path":"pic.png"}'),
];

const event = (...parts: object[]) =>
	`data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0 }], responseId: "r1" })}\n\n`;
const finish = (finishReason: string, others: object = {}) =>
	`data: ${JSON.stringify({ candidates: [{ finishReason, ...others }], responseId: "r1" })}\n\n`;

describeProvider("contents", {
	settings: { providerType: "google_genai", model: "gemini-3-pro" },
	stream: recordedStream,
	parts: recordedParts,
	last: { type: "done", usage: weatherUsage, messageId: "fxR1" },
	start: "",
	delta: (value) => event({ text: value }),
	end: finish("STOP"),
	unknownEvent: 'data: {"modelStatus":{"modelStage":"STABLE"}}',
	errors: {
		"gemini-errors.jsonl": {
			"400 context overflow": { kind: "overflow" },
			"400 bad key (not 401)": {
				statusCode: 401,
				message: 'API key not valid. The key for the provider "mine" comes from providers.mine.api_key.',
			},
			"429": { retryAfter: 34_000 },
			"429 daily, wait for reset": { kind: "provider", statusCode: 429 },
			"429 with header": { retryAfter: 3000 },
			"mid-stream": { kind: "status", statusCode: 503, message: "The model is overloaded." },
		},
	},
});

const tested = createModelSubject(settings);
const { ask, sent } = tested;

describe("answers", () => {
	it("store a signature after the text with the text", async () => {
		const parts = partsOf(await ask(sendEvents(readProviderFixture("gemini-text-end.sse"))));
		expect(parts).toEqual([
			text("Rain, 4 C; one red pixel."),
			seal(origin, "text", { thoughtSignature: "CqFxVGFpbA==" }),
		]);
	});

	it("generate ids for calls without one, and do not send such ids back", async () => {
		const given = event({ functionCall: { name: "f", args: { a: 1 } } }, { functionCall: { name: "g" } });
		const chunks = await ask(sendEvents(given + finish("STOP")));
		const ids = partsOf(chunks).flatMap((part) => (part.type === "function" ? [part.id] : []));
		expect(new Set(ids).size).toBe(2);
		await ask(sendEvents(recordedStream), {}, continued(plainRequest, chunks, [[text("1")], [text("2")]]));
		expect(sent("contents")).toMatchObject([
			{ role: "user" },
			{
				parts: [
					{ functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "skip_thought_signature_validator" },
					{ functionCall: { name: "g", args: {} } },
				],
			},
			{ parts: [{ functionResponse: { name: "f" } }, { functionResponse: { name: "g" } }] },
		]);
		expect(JSON.stringify(sent("contents"))).not.toContain('"id"');
	});

	it.each([
		["SAFETY", {}, "The provider refused to answer (SAFETY)."],
		["RECITATION", { finishMessage: "Too close." }, "The provider refused to answer (RECITATION: Too close.)."],
		["MAX_TOKENS", {}, "The model used up all tokens of its answer before it said anything."],
		[
			"MALFORMED_FUNCTION_CALL",
			{ finishMessage: "print(f())" },
			"The model made a tool call that cannot be read (MALFORMED_FUNCTION_CALL: print(f())).",
		],
	])("without content report why: %s", async (reason, others, message) => {
		const { failure } = modelFailure("provider", message);
		const refused = message.includes("refused") ? { isRefused: true } : {};
		const transient = reason === "MALFORMED_FUNCTION_CALL" ? { isTransient: true } : {};
		const failed = { type: "failed", failure: { ...failure, ...refused, ...transient } };
		expect(await ask(sendEvents(finish(reason, others)))).toEqual([failed]);
		const truncated = { type: "done", end: { kind: "truncated", reason } };
		const chunks = await ask(sendEvents(event({ text: "a" }) + finish(reason, others)));
		expect(chunks.at(-1)).toMatchObject(reason === "MAX_TOKENS" ? truncated : failed);
	});

	it("without an answer report that the prompt was refused", async () => {
		expect(await ask(sendEvents(readProviderFixture("gemini-blocked.sse")))).toMatchObject([
			{
				failure: {
					kind: "provider",
					message: "The provider refused the prompt (PROHIBITED_CONTENT).",
					isRefused: true,
				},
			},
		]);
	});
});

describe("the request", () => {
	it.each([
		["", "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"],
		["/v1", "/v1/models/gemini-3-pro:streamGenerateContent?alt=sse"],
		["/proxy/", "/proxy/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"],
	])("is sent below the base URL %j", async (base, path) => {
		await ask(sendEvents(recordedStream), { baseUrl: tested.server.url + base });
		expect(tested.server.requests[0]).toMatchObject({ path, headers: { "x-goog-api-key": "test-key-0123456789" } });
	});

	it.each([
		["gemini-3-pro", "on", { includeThoughts: true, thinkingLevel: "high" }],
		["gemini-3-pro", "off", { thinkingLevel: "low" }],
		["gemini-2.5-flash", "on", { includeThoughts: true, thinkingBudget: 24_576 }],
		["gemini-2.5-flash", "off", { thinkingBudget: 0 }],
		["gemini-2.5-pro", "off", { thinkingBudget: 128 }],
		["gemini-2.5-pro", "default", { includeThoughts: true }],
		["gemini-2.0-flash", "on", undefined],
		["gemma-3-27b-it", "on", undefined],
	] as const)("has the thinking mode for %s: %s", async (model, thinking, expected) => {
		await ask(sendEvents(recordedStream), { model, thinking });
		const generation = sent("generationConfig");
		expect(isRecord(generation) ? generation["thinkingConfig"] : undefined).toEqual(expected);
	});

	it.each([
		["gemini-2.5-flash", "default", 2000, { includeThoughts: true, thinkingBudget: 2000 }],
		["gemini-2.5-flash", "on", 0, { thinkingBudget: 0 }],
		["gemini-3-pro", "on", 2000, { includeThoughts: true, thinkingLevel: "high" }],
	] as const)("has the budget for the thinking of %s (%s): %s", async (model, thinking, thinkingBudget, expected) => {
		const request = { ...plainRequest, sampling: { thinkingBudget } };
		await ask(sendEvents(recordedStream), { model, thinking, capabilities: new Set(["thinking"]) }, request);
		const generation = sent("generationConfig");
		expect(isRecord(generation) ? generation["thinkingConfig"] : undefined).toEqual(expected);
	});

	it("is, in the second step, the recorded one", async () => {
		const changes: Partial<ModelSettings> = {
			thinking: "on",
			capabilities: new Set(["image_in"]),
			sampling: { ...settings.sampling, maxCompletionTokens: 8192 },
		};
		const recorded = JSON.parse(readProviderFixture("gemini-followup.json"));
		const [{ functionDeclarations }] = recorded.tools;
		for (const declaration of functionDeclarations) declaration.description = "…";
		recorded.generationConfig.thinkingConfig.thinkingLevel = "high";

		const first = await ask(sendEvents(recordedStream), changes);
		const tools = functionDeclarations.map((declaration: { name: string; parametersJsonSchema: object }) => ({
			name: declaration.name,
			description: "…",
			parameters: declaration.parametersJsonSchema,
		}));
		const request = continued(weatherRequest, first, weatherResults());
		await ask(sendEvents(recordedStream), changes, { ...request, tools });
		expect(tested.server.requests[1]?.body).toEqual(recorded);
	});

	it("has images of results next to them for older models, one result for each call", async () => {
		const changes: Partial<ModelSettings> = { model: "gemini-2.5-flash", capabilities: new Set(["image_in"]) };
		const first = await ask(sendEvents(recordedStream), changes);
		const results = [[text("a"), text("b"), imagePart], [imagePart]];
		await ask(sendEvents(recordedStream), changes, continued(weatherRequest, first, results));
		const contents = sent("contents");
		const last: unknown = Array.isArray(contents) ? contents.at(-1) : null;
		const parts: unknown[] = isRecord(last) && Array.isArray(last["parts"]) ? last["parts"] : [];
		expect(parts.filter((part) => isRecord(part) && "functionResponse" in part)).toEqual([
			{ functionResponse: { id: "fxc1", name: "get_weather", response: { output: "a\nb" } } },
			{ functionResponse: { id: "fxc2", name: "read_image", response: { output: "The result follows." } } },
		]);
		expect(parts.filter((part) => isRecord(part) && "inlineData" in part)).toHaveLength(2);
	});
});

describe("Vertex AI", () => {
	const project = { GOOGLE_CLOUD_PROJECT: "p1", GOOGLE_CLOUD_LOCATION: "europe-west4" };

	const tokens = { get: async () => "token-0123456789", discard() {} };

	async function askVertex(changes: Partial<ModelSettings>, given = tokens) {
		const stream = createVertexStream({ ...settings, baseUrl: tested.server.url, ...changes }, given);
		return await collectChunks(stream(plainRequest, new AbortController().signal));
	}

	const expired = sendJson(401, {}, { error: { code: 401, message: "Expired.", status: "UNAUTHENTICATED" } });

	it("is asked again with a new token when it refuses one, once", async () => {
		let count = 1;
		const renewed = {
			get: async () => `token-${count}`,
			discard() {
				count += 1;
			},
		};
		tested.server.answerNext(expired);
		tested.server.answerNext(sendEvents(recordedStream));
		expect(partsOf(await askVertex({ environment: project }, renewed))).toEqual(recordedParts);
		tested.server.answerNext(expired);
		tested.server.answerNext(expired);
		expect(await askVertex({ environment: project }, renewed)).toMatchObject([{ failure: { statusCode: 401 } }]);
		expect(tested.server.requests.map(({ headers }) => headers.authorization)).toEqual(
			["token-1", "token-2", "token-2", "token-3"].map((token) => `Bearer ${token}`),
		);
	});

	it("is asked once with a key that it refuses", async () => {
		tested.server.answerNext(expired);
		expect(await askVertex({ environment: {} })).toMatchObject([{ failure: { statusCode: 401 } }]);
		expect(tested.server.requests).toHaveLength(1);
	});

	it("ends a request that waits for its token", async () => {
		const controller = new AbortController();
		const waiting = { get: (signal: AbortSignal) => aborted(signal).then(() => "late"), discard() {} };
		const given = { ...settings, baseUrl: tested.server.url, environment: project };
		const chunks = collectChunks(createVertexStream(given, waiting)(plainRequest, controller.signal));
		controller.abort();
		expect(await chunks).toEqual([]);
		expect(tested.server.requests).toEqual([]);
	});

	it("gets requests below the project, with a token and without ids", async () => {
		tested.server.answerNext(sendEvents(recordedStream));
		const chunks = await askVertex({ environment: project });
		expect(partsOf(chunks)).toEqual(recordedParts);
		expect(tested.server.requests[0]).toMatchObject({
			path: "/v1/projects/p1/locations/europe-west4/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
			headers: { authorization: "Bearer token-0123456789" },
		});
		expect(tested.server.requests[0]?.headers["x-goog-api-key"]).toBeUndefined();
	});

	it("gets requests with the key alone when there is no project", async () => {
		tested.server.answerNext(sendEvents(recordedStream));
		await askVertex({ environment: {} });
		expect(tested.server.requests[0]).toMatchObject({
			path: "/v1/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
			headers: { "x-goog-api-key": "test-key-0123456789" },
		});
	});

	it("names the missing settings", async () => {
		expect(await askVertex({ environment: {}, apiKey: "" })).toMatchObject([
			{ failure: { kind: "provider", message: expect.stringContaining("GOOGLE_CLOUD_PROJECT") } },
		]);
		tested.server.answerNext(sendEvents(recordedStream));
		const model = await tested.create({ providerType: "vertexai", environment: project });
		const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
		expect(chunks).toMatchObject([
			{
				failure: {
					kind: "provider",
					message: expect.stringContaining("/home/me/.config/gcloud/application_default_credentials.json"),
				},
			},
		]);
		expect(tested.server.requests).toEqual([]);
	});
});
