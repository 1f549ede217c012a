// `--model scripted`: a model for trying the program without a key, added to this process's settings only.
import { scriptedModelName } from "../../api/values/model-advice.ts";
import type { Configuration, ModelSettings, ProviderSettings } from "../../settings/config/configuration.ts";

/** Adds the scripted model if the command line requests it and the settings do not define that name. */
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
