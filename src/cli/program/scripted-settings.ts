// `--model scripted`: a model for a try without a key, listed in the settings of this process alone.
import { scriptedModelName } from "../../api/values/model-advice.ts";
import type { Configuration, ModelSettings, ProviderSettings } from "../../settings/config/configuration.ts";

/** The configuration with the scripted model, where the command line asks for it and the settings have none of that name. */
export function withScriptedModel(configuration: Configuration, asked: string | null): Configuration {
	const { models, providers } = configuration;
	if (asked !== scriptedModelName || Object.hasOwn(models, scriptedModelName)) return configuration;
	const provider: ProviderSettings = {
		type: "_scripted_echo",
		baseUrl: "",
		apiKey: "",
		env: {},
		customHeaders: {},
		reasoningKey: null,
		oauth: null,
	};
	const model: ModelSettings = {
		provider: scriptedModelName,
		model: scriptedModelName,
		maxContextSize: 100_000,
		capabilities: [],
		displayName: "Scripted, for a try without a key",
		price: null,
	};
	return {
		...configuration,
		providers: { ...providers, [scriptedModelName]: provider },
		models: { ...models, [scriptedModelName]: model },
	};
}
