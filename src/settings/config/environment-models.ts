// Models for a program without a configuration: of every vendor whose key is in the environment, under the names that its
// own tools read.
import type { Configuration, ModelSettings, ProviderSettings } from "./configuration.ts";
import type { Environment } from "./model-selection.ts";
import type { ProviderType } from "./schema.ts";

/** Where the models come from that no configuration names. */
export interface EnvironmentModel {
	/** The variable that holds the key. */
	readonly variable: string;
	/** Key of `providers`. */
	readonly provider: string;
	/** The default model of this provider, as its alias and as it is sent. */
	readonly model: string;
}

interface Vendor {
	readonly name: string;
	readonly type: ProviderType;
	/** The first that is set holds. */
	readonly keys: readonly string[];
	/** Replaces `baseUrl`. */
	readonly addressVariable: string;
	readonly baseUrl: string;
	/** The default model. */
	readonly model: string;
	/** Tokens. */
	readonly maxContextSize: number;
}

/** In the order in which the default model is sought. */
const vendors: readonly Vendor[] = [
	{
		name: "anthropic",
		type: "anthropic",
		keys: ["RKAT_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"],
		addressVariable: "ANTHROPIC_BASE_URL",
		baseUrl: "https://api.anthropic.com",
		model: "claude-opus-5-5",
		maxContextSize: 1_000_000,
	},
	{
		name: "openai",
		type: "openai_responses",
		keys: ["RKAT_OPENAI_API_KEY", "OPENAI_API_KEY"],
		addressVariable: "OPENAI_BASE_URL",
		baseUrl: "https://api.openai.com/v1",
		model: "gpt-6-astra",
		maxContextSize: 1_050_000,
	},
	{
		name: "gemini",
		type: "gemini",
		keys: ["RKAT_GEMINI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
		addressVariable: "GOOGLE_GEMINI_BASE_URL",
		baseUrl: "https://generativelanguage.googleapis.com",
		model: "gemini-4-argon",
		maxContextSize: 1_048_576,
	},
];

/** Where the vendors are, the variables that say so otherwise, and those with their keys. */
export const vendorAddresses: readonly Pick<Vendor, "name" | "keys" | "addressVariable" | "baseUrl">[] = vendors;

/** The variables that give keys when no configuration names a provider. */
export const providerKeyVariables: readonly string[] = vendors.flatMap(({ keys }) => keys);

/**
 * The configuration with the models that keys in the environment allow, and which of them is the default; null when there
 * is none. A configuration that names a provider or a model always wins: it is returned as it is.
 */
export function withEnvironmentModels(
	configuration: Configuration,
	environment: Environment,
): { readonly configuration: Configuration; readonly chosen: EnvironmentModel | null } {
	const { providers, models, defaultModel } = configuration;
	if (Object.keys(providers).length > 0 || Object.keys(models).length > 0 || defaultModel !== "")
		return { configuration, chosen: null };
	const found = vendors.flatMap((vendor) => {
		const variable = vendor.keys.find((name) => environment[name]);
		return variable === undefined ? [] : [{ vendor, variable, key: environment[variable] ?? "" }];
	});
	// Variables of Kimi describe a whole model by themselves.
	const isDescribed = Boolean(environment["KIMI_BASE_URL"] && environment["KIMI_MODEL_NAME"]);
	const [first] = isDescribed ? [] : found;
	if (found.length === 0) return { configuration, chosen: null };
	const chosen =
		first === undefined ? null : { variable: first.variable, provider: first.vendor.name, model: first.vendor.model };
	return {
		configuration: {
			...configuration,
			providers: Object.fromEntries(
				found.map(({ vendor, variable, key }) => [vendor.name, toProvider(vendor, variable, key, environment)]),
			),
			models: Object.fromEntries(found.map(({ vendor }) => [vendor.model, toModel(vendor)])),
			defaultModel: chosen?.model ?? "",
		},
		chosen,
	};
}

function toProvider(vendor: Vendor, variable: string, key: string, environment: Environment): ProviderSettings {
	return {
		type: vendor.type,
		baseUrl: environment[vendor.addressVariable] || vendor.baseUrl,
		apiKey: key,
		apiKeyVariable: variable,
		env: {},
		customHeaders: {},
		reasoningKey: null,
		oauth: null,
	};
}

function toModel(vendor: Vendor): ModelSettings {
	return {
		provider: vendor.name,
		model: vendor.model,
		maxContextSize: vendor.maxContextSize,
		capabilities: ["image_in", "thinking"],
		displayName: null,
		price: null,
	};
}
