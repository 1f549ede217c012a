// Selects a session's model and its parameters: a pure function of settings, command line and environment.
import type { Configuration, ModelSettings, OauthReference, ProviderSettings } from "./configuration.ts";
import { ConfigurationError, type ConfigurationProblem, toKeyPath } from "./configuration-error.ts";
import { isStandIn } from "./recorder.ts";
import { type ModelCapability, modelCapabilities, type ProviderType } from "./schema.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ModelSelectionRequest {
	readonly configuration: Configuration;
	readonly alias: string | null;
	/** From the command line; null means the configured default. */
	readonly thinking: boolean | null;
	readonly environment: Environment;
}

export interface SelectedProvider {
	readonly name: string;
	readonly type: ProviderType;
	readonly baseUrl: string;
	/** May be empty. With `oauth` it is used while the user is signed out. */
	readonly apiKey: string;
	/** Where the key is set or should be set: a variable or a setting path. */
	readonly apiKeySource: string;
	/** Variables for the adapter only. */
	readonly env: Readonly<Record<string, string>>;
	readonly customHeaders: Readonly<Record<string, string>>;
	/** The message field for reasoning in chat-completions providers; null if reasoning is not sent back. */
	readonly reasoningKey: string | null;
	/** Null if a variable supplies the key. */
	readonly oauth: OauthReference | null;
}

export interface SelectedModel {
	readonly name: string;
	readonly maxContextSize: number;
	/** Configured or overridden capabilities, plus those implied by the model name. */
	readonly capabilities: ReadonlySet<ModelCapability>;
}

/** Only for providers of type `kimi`; neutral (null, null, "off", null) for all others. */
export interface Sampling {
	readonly temperature: number | null;
	readonly topP: number | null;
	/** Tokens; "automatic" limits the completion to the free context, "off" sends no limit. */
	readonly maxCompletionTokens: number | "automatic" | "off";
	/** The value of `thinking.keep`, sent while thinking is on. */
	readonly thinkingKeep: string | null;
}

export type ThinkingMode = "on" | "off" | "default";

export type ModelSelection =
	| { readonly kind: "none"; readonly alias: string | null }
	| {
			readonly kind: "model";
			/** Null if environment variables alone describe the model. */
			readonly alias: string | null;
			readonly provider: SelectedProvider;
			readonly model: SelectedModel;
			readonly sampling: Sampling;
			readonly thinking: ThinkingMode;
	  };

const blankModel: ModelSettings = {
	provider: "",
	model: "",
	maxContextSize: 100_000,
	capabilities: [],
	displayName: null,
	price: null,
};
const blankProvider: ProviderSettings = {
	type: "kimi",
	baseUrl: "",
	apiKey: "",
	env: {},
	customHeaders: {},
	reasoningKey: null,
	oauth: null,
};
const neutralSampling: Sampling = { temperature: null, topP: null, maxCompletionTokens: "off", thinkingKeep: null };

/** Environment overrides command line overrides settings. Throws ConfigurationError (`environment`) for an invalid variable. */
export function selectModel(request: ModelSelectionRequest): ModelSelection {
	const { configuration, environment } = request;
	const alias = request.alias || configuration.defaultModel;
	const known = find(configuration.models, alias);
	const configuredModel = known ?? blankModel;
	const configured = (known && find(configuration.providers, known.provider)) ?? blankProvider;
	const problems: ConfigurationProblem[] = [];
	const provider = applyProviderVariables(configuredModel.provider, configured, environment);
	const isKimi = configured.type === "kimi";
	const model = withDerived(isKimi ? applyModelVariables(configuredModel, environment, problems) : configuredModel);
	const sampling = isKimi ? readSampling(environment, problems) : neutralSampling;
	if (problems.length > 0) throw new ConfigurationError("environment", "environment", problems);

	const isTest = configured.type === "_echo" || configured.type === "_scripted_echo";
	if (!isTest && (provider.baseUrl === "" || model.name === "")) return { kind: "none", alias: alias || null };
	return {
		kind: "model",
		alias: alias || null,
		provider,
		model,
		sampling,
		thinking: decideThinking(model.capabilities, request.thinking ?? configuration.defaultThinking),
	};
}

/** The default model's provider, with environment overrides. URL and key are empty without a default model or a variable. */
export function selectDefaultProvider(configuration: Configuration, environment: Environment): SelectedProvider {
	const model = find(configuration.models, configuration.defaultModel) ?? blankModel;
	const provider = find(configuration.providers, model.provider) ?? blankProvider;
	return applyProviderVariables(model.provider, provider, environment);
}

function find<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
	return Object.hasOwn(table, name) ? table[name] : undefined;
}

function decideThinking(capabilities: ReadonlySet<ModelCapability>, requested: boolean): ThinkingMode {
	if (capabilities.has("always_thinking") || (requested && capabilities.has("thinking"))) return "on";
	return requested ? "default" : "off";
}

/** Prefix of the variables that override a provider's base URL and key. */
const overridePrefixes: Record<ProviderType, string | null> = {
	kimi: "KIMI",
	openai_legacy: "OPENAI",
	openai_responses: "OPENAI",
	anthropic: null,
	google_genai: null,
	gemini: null,
	vertexai: null,
	_echo: null,
	_scripted_echo: null,
	_chaos: null,
};

// Variables with scripts for the scripted model; its own `env` table overrides them.
const scriptedVariables = ["KIMI_SCRIPTED_ECHO_SCRIPTS", "KIMI_SCRIPTED_ECHO_TRACE"];

function applyProviderVariables(name: string, provider: ProviderSettings, environment: Environment): SelectedProvider {
	const prefix = overridePrefixes[provider.type];
	const variable = (suffix: string) => (prefix === null ? "" : (environment[`${prefix}_${suffix}`] ?? ""));
	const apiKey = provider.apiKeyVariable === undefined ? variable("API_KEY") : "";
	const address = variable("BASE_URL");
	const holdsKey = prefix !== null && (name === "" || apiKey !== "");
	const inherited = provider.type === "_scripted_echo" ? scriptedVariables : [];
	return {
		name,
		type: provider.type,
		baseUrl: (isStandIn(address, environment) && provider.baseUrl) || address || provider.baseUrl,
		apiKey: apiKey || provider.apiKey,
		apiKeySource:
			provider.apiKeyVariable ?? (holdsKey ? `${prefix}_API_KEY` : toKeyPath(["providers", name, "api_key"])),
		env: {
			...Object.fromEntries(inherited.flatMap((key) => (environment[key] ? [[key, environment[key]]] : []))),
			...provider.env,
		},
		customHeaders: provider.customHeaders,
		reasoningKey: reasoningKey(provider),
		oauth: apiKey === "" ? provider.oauth : null,
	};
}

function reasoningKey(provider: ProviderSettings): string | null {
	if (provider.type === "kimi" || provider.type === "_chaos") return "reasoning_content";
	if (provider.type !== "openai_legacy") return null;
	return (provider.reasoningKey ?? "reasoning_content") || null;
}

function applyModelVariables(
	model: ModelSettings,
	environment: Environment,
	problems: ConfigurationProblem[],
): ModelSettings {
	const size = environment["KIMI_MODEL_MAX_CONTEXT_SIZE"];
	const words = environment["KIMI_MODEL_CAPABILITIES"];
	const maxContextSize = size ? toInteger(size) : model.maxContextSize;
	if (maxContextSize === null || maxContextSize < 1) {
		problems.push({ key: "KIMI_MODEL_MAX_CONTEXT_SIZE", reason: "must be an integer of at least 1" });
	}
	return {
		...model,
		model: environment["KIMI_MODEL_NAME"] || model.model,
		maxContextSize: maxContextSize ?? model.maxContextSize,
		capabilities: words ? toCapabilities(words) : model.capabilities,
	};
}

function toCapabilities(list: string): ModelCapability[] {
	const words = list.split(",").map((word) => word.trim().toLowerCase());
	return modelCapabilities.filter((capability) => words.includes(capability));
}

function withDerived(model: ModelSettings): SelectedModel {
	const capabilities = new Set(model.capabilities);
	if (/thinking|reason/i.test(model.model)) capabilities.add("thinking").add("always_thinking");
	if (model.model === "kimi-for-coding" || model.model === "kimi-code") {
		capabilities.add("thinking").add("image_in").add("video_in");
	}
	return { name: model.model, maxContextSize: model.maxContextSize, capabilities };
}

function readSampling(environment: Environment, problems: ConfigurationProblem[]): Sampling {
	const decimal = (key: string) => {
		const text = environment[key];
		if (!text) return null;
		const value = Number(text);
		if (text.trim() !== "" && Number.isFinite(value)) return value;
		problems.push({ key, reason: "must be a number" });
		return null;
	};
	return {
		temperature: decimal("KIMI_MODEL_TEMPERATURE"),
		topP: decimal("KIMI_MODEL_TOP_P"),
		maxCompletionTokens: readCap(environment),
		thinkingKeep: environment["KIMI_MODEL_THINKING_KEEP"] || null,
	};
}

function readCap(environment: Environment): Sampling["maxCompletionTokens"] {
	for (const key of ["KIMI_MODEL_MAX_COMPLETION_TOKENS", "KIMI_MODEL_MAX_TOKENS"]) {
		const cap = toInteger(environment[key] ?? "");
		if (cap !== null) return cap > 0 ? cap : "off";
	}
	return "automatic";
}

function toInteger(text: string): number | null {
	const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
	return Number.isSafeInteger(value) ? value : null;
}
