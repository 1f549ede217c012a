// Finds the configured model for a client that uses its own names for models and providers.
import type { Configuration } from "./configuration.ts";
import type { ProviderType } from "./schema.ts";

export interface UnlistedModel {
	readonly provider: string;
	/** The name sent to the API. */
	readonly name: string;
}

export type FoundModel =
	/** An alias of `models`; null means the default model. */
	| { readonly kind: "listed"; readonly alias: string | null }
	| { readonly kind: "unlisted"; readonly model: UnlistedModel }
	| { readonly kind: "none"; readonly reason: string };

/** Assumed context size of an unknown model, in tokens. */
const usualContextSize = 100_000;

/** Model vendors under all their names, with the provider types that serve their models. */
const makers: readonly { readonly name: string; readonly types: readonly ProviderType[]; readonly models: RegExp }[] = [
	{ name: "anthropic", types: ["anthropic"], models: /^claude-/i },
	{ name: "openai", types: ["openai_responses", "openai_legacy"], models: /^(gpt-|o1-|o3-|chatgpt-)/i },
	{ name: "gemini", types: ["gemini", "google_genai", "vertexai"], models: /^gemini-/i },
	{ name: "kimi", types: ["kimi"], models: /^kimi-/i },
];

/** By alias or name, or else an unlisted model of a provider identified by key, type, vendor or model name. */
export function findModel(
	configuration: Configuration,
	wanted: { readonly model: string | null; readonly provider: string | null },
): FoundModel {
	const { model, provider } = wanted;
	const { models, defaultModel } = configuration;
	const fits = (alias: string) =>
		provider === null || isProvider(configuration, models[alias]?.provider ?? "", provider);
	const aliases = Object.keys(models).filter(fits);
	const inOrder = [...aliases.filter((alias) => alias === defaultModel), ...aliases];
	if (model === null) {
		const [first] = inOrder;
		if (provider === null) return { kind: "listed", alias: null };
		if (first !== undefined) return { kind: "listed", alias: first };
		return { kind: "none", reason: `No model of provider '${provider}' is configured; add one under [models].` };
	}
	const listed = aliases.includes(model) ? model : inOrder.find((alias) => models[alias]?.model === model);
	if (listed !== undefined) return { kind: "listed", alias: listed };
	const maker = provider ?? makers.find(({ models: names }) => names.test(model))?.name;
	if (maker === undefined) return { kind: "none", reason: `Cannot infer provider from model '${model}'` };
	const key = Object.keys(configuration.providers).find((name) => isProvider(configuration, name, maker));
	if (key === undefined) return { kind: "none", reason: `API key not set for provider '${maker}'` };
	return { kind: "unlisted", model: { provider: key, name: model } };
}

function isProvider({ providers }: Configuration, key: string, wanted: string): boolean {
	if (key === wanted) return true;
	const type = Object.hasOwn(providers, key) ? providers[key]?.type : undefined;
	if (type === undefined) return false;
	return type === wanted || makers.some(({ name, types }) => name === wanted && types.includes(type));
}

/** Adds the model to the settings under its own name. */
export function listModel(configuration: Configuration, { provider, name }: UnlistedModel): Configuration {
	const model = {
		provider,
		model: name,
		maxContextSize: usualContextSize,
		capabilities: [],
		displayName: null,
		price: null,
	};
	return { ...configuration, models: { ...configuration.models, [name]: model } };
}
