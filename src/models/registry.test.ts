import { describe, expect, it } from "vitest";
import { collectChunks, contractRequest } from "../../test/contracts/model-contract.ts";
import { plainModelSettings } from "../../test/support/model-settings.ts";
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
	] as const)("makes a model of type %s without a request", async (providerType, name) => {
		const model = await createModel({ ...plainModelSettings, providerType });
		expect(model).toMatchObject({ name, maxContextSize: 100_000, capabilities: new Set() });
	});

	it("gives each scripted model a queue of its own", async () => {
		const models = [await createModel(scripted), await createModel(scripted)];
		for (const model of models) {
			const chunks = await collectChunks(model.stream(contractRequest, new AbortController().signal));
			expect(chunks[0]).toEqual({ type: "parts", parts: [{ type: "text", text: "a" }] });
		}
	});

	it("refuses unusable scripts when the model is made", async () => {
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
		await collectChunks(model.stream(contractRequest, new AbortController().signal));
		expect(trace).toHaveLength(lines);
	});
});
