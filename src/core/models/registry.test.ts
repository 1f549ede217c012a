import { describe, expect, it, onTestFinished } from "vitest";
import { startOrigin } from "../../../test/support/host/web-servers.ts";
import { collectChunks, plainRequest } from "../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../test/support/models/model-settings.ts";
import { ModelConfigurationError, providerTypes } from "./model-settings.ts";
import { createModel } from "./registry.ts";

const scripted = {
	...plainModelSettings,
	providerType: "_scripted_echo",
	environment: { KIMI_SCRIPTED_ECHO_SCRIPTS: "/s" },
	readFile: async () => Buffer.from('["text: a"]'),
} as const;

describe("the registry", () => {
	it("knows every type", () => {
		expect([...providerTypes].sort()).toEqual(
			["_chaos", "_echo", "_scripted_echo", "anthropic", "gemini", "google_genai", "kimi", "openai_legacy"].concat([
				"openai_responses",
				"vertexai",
			]),
		);
	});

	it.each([
		["kimi", "kimi-k2.6"],
		["openai_legacy", "kimi-k2.6"],
		["openai_responses", "kimi-k2.6"],
		["anthropic", "kimi-k2.6"],
		["google_genai", "kimi-k2.6"],
		["gemini", "kimi-k2.6"],
		["vertexai", "kimi-k2.6"],
		["_chaos", "kimi-k2.6"],
		["_echo", "echo"],
	] as const)("creates a model of type %s without a request", async (providerType, name) => {
		const model = await createModel({ ...plainModelSettings, providerType });
		expect(model).toMatchObject({ name, maxContextSize: 100_000, capabilities: new Set() });
	});

	it.each([
		["kimi", 1],
		["openai_legacy", 1],
		["openai_responses", 1],
		["anthropic", 1],
		["gemini", 1],
	] as const)("warms up a model of type %s with a connection, and sends nothing", async (providerType, connections) => {
		const origin = await startOrigin();
		onTestFinished(() => origin.close());
		const baseUrl = `http://127.0.0.1:${origin.port}/v1`;
		const model = await createModel({ ...plainModelSettings, providerType, baseUrl });
		expect(origin.connections()).toBe(0);
		await model.warmUp?.();
		expect([origin.connections(), origin.requests]).toEqual([connections, []]);
		await collectChunks(model.stream(plainRequest, new AbortController().signal));
		expect([origin.connections(), origin.requests.length]).toEqual([connections, 1]);
	});

	it("warms up nothing for an invalid URL, and rejects for an unreachable host", async () => {
		const nowhere = await createModel({ ...plainModelSettings, baseUrl: "nowhere" });
		await expect(nowhere.warmUp?.()).resolves.toBeUndefined();
		const origin = await startOrigin();
		await origin.close();
		const gone = await createModel({ ...plainModelSettings, baseUrl: `http://127.0.0.1:${origin.port}` });
		await expect(gone.warmUp?.()).rejects.toThrow("ECONNREFUSED");
	});

	it("has no warm-up for scripted models", async () => {
		expect((await createModel(scripted)).warmUp).toBeUndefined();
	});

	it("gives each scripted model its own queue", async () => {
		const models = [await createModel(scripted), await createModel(scripted)];
		for (const model of models) {
			const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
			expect(chunks[0]).toEqual({ type: "parts", parts: [{ type: "text", text: "a" }] });
		}
	});

	it("refuses invalid scripts when it creates the model", async () => {
		await expect(createModel({ ...scripted, environment: {} })).rejects.toThrow(ModelConfigurationError);
	});

	it.each([
		["1", 1],
		["TRUE", 1],
		["yes", 1],
		["on", 1],
		["0", 0],
		["", 0],
	])("traces with KIMI_SCRIPTED_ECHO_TRACE=%j", async (value, lines) => {
		const trace: string[] = [];
		const environment = { ...scripted.environment, KIMI_SCRIPTED_ECHO_TRACE: value };
		const model = await createModel({ ...scripted, environment, trace: (line) => trace.push(line) });
		await collectChunks(model.stream(plainRequest, new AbortController().signal));
		expect(trace).toHaveLength(lines);
	});
});
