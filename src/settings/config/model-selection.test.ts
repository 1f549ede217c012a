import { describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { readConfiguration } from "./configuration-reader.ts";
import { type Environment, type ModelSelection, selectDefaultProvider, selectModel } from "./model-selection.ts";

const provider = (type: string, more: object = {}) => ({
	type,
	base_url: `https://${type.replaceAll("_", "-")}.example.com`,
	api_key: "file-key",
	...more,
});
const model = (providerName: string, name: string, capabilities: string[] = []) => ({
	provider: providerName,
	model: name,
	max_context_size: 1000,
	capabilities,
});

const settings = {
	default_model: "k",
	models: {
		k: model("kimi", "k2", ["thinking"]),
		plain: model("kimi", "k1"),
		reasoner: model("kimi", "Deep-Reasoner"),
		coding: model("kimi", "kimi-for-coding"),
		code: model("kimi", "kimi-code"),
		old: model("old", "gpt-x"),
		silent: model("silent", "gpt-x"),
		managed: model("managed", "kimi-for-coding"),
		responses: model("responses", "gpt-y"),
		claude: model("anthropic", "sonnet"),
		homeless: model("homeless", "sonnet"),
		nameless: model("kimi", ""),
		script: model("script", "scripted_echo"),
		echo: model("echo", ""),
	},
	providers: {
		kimi: provider("kimi", { custom_headers: { A: "b" }, env: { KIMI_API_KEY: "not-this" } }),
		old: provider("openai_legacy"),
		silent: provider("openai_legacy", { reasoning_key: "" }),
		managed: provider("kimi", { api_key: "", oauth: { key: "oauth/kimi-code" } }),
		responses: provider("openai_responses"),
		anthropic: provider("anthropic", { oauth: { key: "k" } }),
		homeless: provider("anthropic", { base_url: "" }),
		script: provider("_scripted_echo", { base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: "/own" } }),
		echo: provider("_echo", { base_url: "", api_key: "" }),
	},
};

const { configuration } = await readConfiguration(
	{ kind: "text", text: JSON.stringify(settings) },
	createDiskFiles(),
	silentLog,
);

const select = (alias: string | null, environment: Environment = {}, thinking: boolean | null = null) =>
	selectModel({ configuration, alias, thinking, environment });

function selected(selection: ModelSelection): Extract<ModelSelection, { kind: "model" }> {
	if (selection.kind === "model") return selection;
	throw new Error(`nothing selected for ${selection.alias}`);
}

describe("selectModel", () => {
	it("selects the default model with all its settings", () => {
		expect(select(null)).toEqual({
			kind: "model",
			alias: "k",
			provider: {
				name: "kimi",
				type: "kimi",
				baseUrl: "https://kimi.example.com",
				apiKey: "file-key",
				apiKeySource: "providers.kimi.api_key",
				env: { KIMI_API_KEY: "not-this" },
				customHeaders: { A: "b" },
				reasoningKey: "reasoning_content",
				oauth: null,
			},
			model: { name: "k2", maxContextSize: 1000, capabilities: new Set(["thinking"]) },
			sampling: { temperature: null, topP: null, maxCompletionTokens: "automatic", thinkingKeep: null },
			thinking: "off",
		});
		expect(select("")).toEqual(select(null));
		expect(selected(select("claude"))).toMatchObject({
			alias: "claude",
			provider: { type: "anthropic", reasoningKey: null, oauth: { storage: "file", key: "k" } },
			sampling: { maxCompletionTokens: "off" },
		});
	});

	it("selects nothing for an unknown or missing alias, or without address or name", () => {
		const none = (alias: string | null) => ({ kind: "none", alias });
		expect(select("nope")).toEqual(none("nope"));
		expect(select("toString")).toEqual(none("toString"));
		expect(select("homeless")).toEqual(none("homeless"));
		expect(select("nameless")).toEqual(none("nameless"));
		const blank = { ...configuration, defaultModel: "", models: {}, providers: {} };
		expect(selectModel({ configuration: blank, alias: null, thinking: null, environment: {} })).toEqual(none(null));
	});

	it("lets variables alone describe a kimi model", () => {
		const environment = { KIMI_BASE_URL: "https://e", KIMI_API_KEY: "e-key", KIMI_MODEL_NAME: "e-model" };
		expect(selected(select("nope", environment))).toMatchObject({
			alias: "nope",
			provider: { name: "", type: "kimi", baseUrl: "https://e", apiKey: "e-key" },
			model: { name: "e-model", maxContextSize: 100_000, capabilities: new Set() },
		});
		expect(select("nope", { KIMI_BASE_URL: "https://e" })).toEqual({ kind: "none", alias: "nope" });
	});

	it("lets variables override the file for kimi only", () => {
		const environment = {
			KIMI_BASE_URL: "https://e",
			KIMI_API_KEY: "e-key",
			KIMI_MODEL_NAME: "e-model",
			KIMI_MODEL_MAX_CONTEXT_SIZE: "5000",
			KIMI_MODEL_CAPABILITIES: "IMAGE_IN, video_in,smell",
			KIMI_MODEL_TEMPERATURE: "0.5",
			KIMI_MODEL_TOP_P: "1",
			KIMI_MODEL_MAX_COMPLETION_TOKENS: "32",
			KIMI_MODEL_THINKING_KEEP: "all",
		};
		expect(selected(select("k", environment))).toMatchObject({
			provider: { baseUrl: "https://e", apiKey: "e-key" },
			model: { name: "e-model", maxContextSize: 5000, capabilities: new Set(["image_in", "video_in"]) },
			sampling: { temperature: 0.5, topP: 1, maxCompletionTokens: 32, thinkingKeep: "all" },
		});
		expect(select("claude", environment)).toEqual(select("claude"));
		expect(select("old", environment)).toEqual(select("old"));
		expect(select("script", environment)).toEqual(select("script"));
		expect(select("k", { KIMI_BASE_URL: "", KIMI_API_KEY: "", KIMI_MODEL_NAME: "" })).toEqual(select("k"));
	});

	it("lets a variable override the key of a sign-in, but nothing else of it", () => {
		const oauth = { storage: "file", key: "oauth/kimi-code" };
		const providerWith = (environment: Environment) => selected(select("managed", environment)).provider;
		expect(providerWith({ KIMI_BASE_URL: "https://e" })).toMatchObject({ baseUrl: "https://e", apiKey: "", oauth });
		expect(providerWith({ KIMI_API_KEY: "e-key" })).toMatchObject({ apiKey: "e-key", oauth: null });
	});

	it("lets OPENAI variables override the file for both OpenAI types only", () => {
		const environment = { OPENAI_BASE_URL: "https://o", OPENAI_API_KEY: "o-key" };
		const overridden = { baseUrl: "https://o", apiKey: "o-key" };
		expect(selected(select("old", environment)).provider).toMatchObject(overridden);
		expect(selected(select("responses", environment)).provider).toMatchObject(overridden);
		expect(select("k", environment)).toEqual(select("k"));
		expect(select("claude", environment)).toEqual(select("claude"));
	});

	it.each([
		["k", {}, "providers.kimi.api_key"],
		["k", { KIMI_API_KEY: "e-key" }, "KIMI_API_KEY"],
		["k", { KIMI_BASE_URL: "https://e" }, "providers.kimi.api_key"],
		["claude", { KIMI_API_KEY: "e-key" }, "providers.anthropic.api_key"],
		["managed", {}, "providers.managed.api_key"],
		["unknown", { KIMI_BASE_URL: "https://e", KIMI_MODEL_NAME: "m" }, "KIMI_API_KEY"],
	])("names the source of the key of %j with %j", (alias, environment, source) => {
		expect(selected(select(alias, environment)).provider.apiKeySource).toBe(source);
	});

	it("reads the completion cap", () => {
		const cap = (environment: Environment) => selected(select("k", environment)).sampling.maxCompletionTokens;
		expect(cap({ KIMI_MODEL_MAX_TOKENS: "7" })).toBe(7);
		expect(cap({ KIMI_MODEL_MAX_COMPLETION_TOKENS: "8", KIMI_MODEL_MAX_TOKENS: "7" })).toBe(8);
		expect(cap({ KIMI_MODEL_MAX_COMPLETION_TOKENS: "many", KIMI_MODEL_MAX_TOKENS: "7" })).toBe(7);
		expect(cap({ KIMI_MODEL_MAX_COMPLETION_TOKENS: "0" })).toBe("off");
		expect(cap({ KIMI_MODEL_MAX_COMPLETION_TOKENS: "-1" })).toBe("off");
		expect(cap({ KIMI_MODEL_MAX_COMPLETION_TOKENS: "many" })).toBe("automatic");
	});

	it("names variables that are not numbers", () => {
		const environment = {
			KIMI_MODEL_MAX_CONTEXT_SIZE: "big",
			KIMI_MODEL_TEMPERATURE: "warm",
			KIMI_MODEL_TOP_P: " ",
		};
		let thrown: unknown;
		try {
			select("k", environment);
		} catch (error) {
			thrown = error;
		}
		expect(thrown).toBeInstanceOf(ConfigurationError);
		expect(thrown).toMatchObject({
			category: "environment",
			message: [
				"Invalid environment variables:",
				"  KIMI_MODEL_MAX_CONTEXT_SIZE: must be an integer of at least 1",
				"  KIMI_MODEL_TEMPERATURE: must be a number",
				"  KIMI_MODEL_TOP_P: must be a number",
			].join("\n"),
		});
		expect(select("claude", environment)).toEqual(select("claude"));
	});

	it("derives capabilities from the name of the model, an overriding name included", () => {
		const of = (alias: string, environment: Environment = {}) =>
			[...selected(select(alias, environment)).model.capabilities].sort();
		expect(of("plain")).toEqual([]);
		expect(of("reasoner")).toEqual(["always_thinking", "thinking"]);
		expect(of("coding")).toEqual(["image_in", "thinking", "video_in"]);
		expect(of("code")).toEqual(["image_in", "thinking", "video_in"]);
		expect(of("plain", { KIMI_MODEL_NAME: "k2-thinking" })).toEqual(["always_thinking", "thinking"]);
	});

	it("chooses the thinking mode", () => {
		const mode = (alias: string, thinking: boolean | null) => selected(select(alias, {}, thinking)).thinking;
		expect(mode("reasoner", false)).toBe("on");
		expect(mode("k", true)).toBe("on");
		expect(mode("k", false)).toBe("off");
		expect(mode("plain", true)).toBe("default");
		expect(mode("plain", false)).toBe("off");
		const eager = { ...configuration, defaultThinking: true };
		const request = { configuration: eager, alias: "k", environment: {} };
		expect(selected(selectModel({ ...request, thinking: null })).thinking).toBe("on");
		expect(selected(selectModel({ ...request, thinking: false })).thinking).toBe("off");
	});

	it("returns the field for reasoning", () => {
		expect(selected(select("old")).provider.reasoningKey).toBe("reasoning_content");
		expect(selected(select("silent")).provider.reasoningKey).toBeNull();
	});

	it("requires no address for the test providers, and merges the variables of the scripted one", () => {
		const environment = { KIMI_SCRIPTED_ECHO_SCRIPTS: "/outer", KIMI_SCRIPTED_ECHO_TRACE: "1", OTHER: "x" };
		expect(selected(select("echo")).model.name).toBe("");
		expect(selected(select("echo", environment)).provider.env).toEqual({});
		expect(selected(select("script")).provider.env).toEqual({ KIMI_SCRIPTED_ECHO_SCRIPTS: "/own" });
		expect(selected(select("script", environment)).provider.env).toEqual({
			KIMI_SCRIPTED_ECHO_SCRIPTS: "/own",
			KIMI_SCRIPTED_ECHO_TRACE: "1",
		});
	});
});

describe("selectDefaultProvider", () => {
	const other = { ...configuration, defaultModel: "old" };
	const none = { ...configuration, defaultModel: "" };

	it.each([
		["the default model's", configuration, {}, "https://kimi.example.com", "file-key"],
		[
			"a variable that overrides it",
			configuration,
			{ KIMI_API_KEY: "from-variable" },
			"https://kimi.example.com",
			"from-variable",
		],
		["only the variables of its kind", other, { KIMI_API_KEY: "k", OPENAI_BASE_URL: "o" }, "o", "file-key"],
		["nothing without a model", none, {}, "", ""],
		["variables without a model", none, { KIMI_API_KEY: "k", KIMI_BASE_URL: "b" }, "b", "k"],
	])("returns %s", (_name, settingsOf, environment, baseUrl, apiKey) => {
		expect(selectDefaultProvider(settingsOf, environment)).toMatchObject({ baseUrl, apiKey });
	});
});
