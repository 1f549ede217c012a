// For every vendor whose key is in the environment, under the vendor's own variable names.
import type { Configuration, ModelSettings, ProviderSettings } from "./configuration.ts";
import type { Environment } from "./model-selection.ts";
import type { ProviderType } from "./schema.ts";

export interface EnvironmentModel {
	readonly variable: string;
	readonly provider: string;
	/** The provider's default model, as its alias and as the name sent. */
	readonly model: string;
}

interface Vendor {
	readonly name: string;
	readonly type: ProviderType;
	/** The first one set wins. */
	readonly keys: readonly string[];
	/** Replaces `baseUrl`. */
	readonly addressVariable: string;
	readonly baseUrl: string;
	readonly model: string;
	/** Tokens. */
	readonly maxContextSize: number;
}

/** In the order used to choose the default model. */
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

/** Vendor base URLs, the variables that override them, and the key variables. */
export const vendorAddresses: readonly Pick<Vendor, "name" | "keys" | "addressVariable" | "baseUrl">[] = vendors;

/** The variables that supply keys if the configuration names no provider. */
export const providerKeyVariables: readonly string[] = vendors.flatMap(({ keys }) => keys);

/** Returns the default among the added models. A configuration with a provider or model is unchanged. */
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
	// Kimi variables describe a whole model by themselves.
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
