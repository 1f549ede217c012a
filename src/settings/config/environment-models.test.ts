import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { silentLog } from "../../base/log.ts";
import { toCommandEnvironment } from "../../ports/sandbox/environment.ts";
import { readConfiguration } from "./configuration-reader.ts";
import { providerKeyVariables, withEnvironmentModels } from "./environment-models.ts";
import { selectModel } from "./model-selection.ts";

const empty = "{}";

async function select(environment: Readonly<Record<string, string>>, text = empty, alias: string | null = null) {
	const { configuration: written } = await readConfiguration({ kind: "text", text }, createMemoryFiles(), silentLog);
	const { configuration, chosen } = withEnvironmentModels(written, environment);
	return {
		written,
		configuration,
		chosen,
		selection: selectModel({ configuration, alias, thinking: null, environment }),
	};
}

describe("a program without a configuration", () => {
	it.each([
		["ANTHROPIC_API_KEY", "anthropic", "anthropic"],
		["OPENAI_API_KEY", "openai", "openai_responses"],
		["GEMINI_API_KEY", "gemini", "gemini"],
		["GOOGLE_API_KEY", "gemini", "gemini"],
		["RKAT_ANTHROPIC_API_KEY", "anthropic", "anthropic"],
		["RKAT_OPENAI_API_KEY", "openai", "openai_responses"],
		["RKAT_GEMINI_API_KEY", "gemini", "gemini"],
	])("has a default model by the key in %s", async (variable, name, type) => {
		const { chosen, selection } = await select({ [variable]: "secret" });
		expect(chosen).toMatchObject({ variable, provider: name });
		expect(selection).toMatchObject({
			kind: "model",
			alias: chosen?.model,
			provider: { name, type, apiKey: "secret", apiKeySource: variable, oauth: null },
			model: { name: chosen?.model },
		});
	});

	it("has a model of each vendor, and the first is the default", async () => {
		const { configuration, chosen } = await select({ GEMINI_API_KEY: "g", OPENAI_API_KEY: "o" });
		expect(Object.keys(configuration.providers)).toEqual(["openai", "gemini"]);
		expect(Object.values(configuration.models).map(({ provider }) => provider)).toEqual(["openai", "gemini"]);
		expect(chosen?.provider).toBe("openai");
	});

	it("prefers the key under Meerkat's own name", async () => {
		const { selection } = await select({ OPENAI_API_KEY: "usual", RKAT_OPENAI_API_KEY: "own" });
		expect(selection).toMatchObject({ provider: { apiKey: "own", apiKeySource: "RKAT_OPENAI_API_KEY" } });
	});

	it.each([
		["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
		["OPENAI_API_KEY", "OPENAI_BASE_URL"],
		["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
	])("asks with the key in %s at the address in %s", async (key, address) => {
		const { selection } = await select({ [key]: "k", [address]: "http://127.0.0.1:9/x" });
		expect(selection).toMatchObject({ provider: { baseUrl: "http://127.0.0.1:9/x" } });
	});

	it("uses the model that Kimi's variables describe before a key of another vendor", async () => {
		const kimi = { KIMI_BASE_URL: "http://127.0.0.1:9", KIMI_MODEL_NAME: "kimi-k2", KIMI_API_KEY: "k" };
		const { chosen, selection } = await select({ ...kimi, ANTHROPIC_API_KEY: "a" });
		expect(chosen).toBeNull();
		expect(selection).toMatchObject({ model: { name: "kimi-k2" }, provider: { apiKey: "k" } });
	});

	it("has none without a key, or with an empty one", async () => {
		expect(await select({ ANTHROPIC_API_KEY: "" })).toMatchObject({ chosen: null, selection: { kind: "none" } });
	});
});

it("no command gets a variable that holds such a key", () => {
	const environment = Object.fromEntries(providerKeyVariables.map((name) => [name, "secret"]));
	expect(toCommandEnvironment(environment, { pass: [], set: {}, drop: [] }, [])).toEqual({});
});

describe("a configuration", () => {
	it.each([
		['{"providers": {"p": {"type": "kimi", "base_url": "http://127.0.0.1:1", "api_key": ""}}}'],
		[
			'{"default_model": "m", "models": {"m": {"provider": "p", "model": "x", "max_context_size": 9}},' +
				'"providers": {"p": {"type": "kimi", "base_url": "http://127.0.0.1:1", "api_key": "k"}}}',
		],
	])("that names a provider wins: %s", async (text) => {
		const { written, configuration, chosen } = await select({ ANTHROPIC_API_KEY: "a" }, text);
		expect(configuration).toBe(written);
		expect(chosen).toBeNull();
	});
});
