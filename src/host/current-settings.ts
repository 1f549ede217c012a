// A sign-in changes models and providers for new sessions; everything else keeps its startup value.
import { createSharedRun } from "../base/shared-run.ts";
import type { Configuration } from "../settings/config/configuration.ts";

export interface CurrentSettings {
	current(): Configuration;
	/** Rereads models and providers. On failure, the settings stay unchanged. */
	reload(): Promise<void>;
	/** Adds models and providers that are in no file. They survive rereading. */
	extend(added: Pick<Configuration, "models" | "providers">): void;
}

/** `first` are the startup settings; `read` rereads them. */
export function createCurrentSettings(first: Configuration, read: () => Promise<Configuration>): CurrentSettings {
	let fromFile = first;
	let current = first;
	let added: Pick<Configuration, "models" | "providers"> = { models: {}, providers: {} };
	const merge = () => {
		current = {
			...fromFile,
			models: { ...fromFile.models, ...added.models },
			providers: { ...fromFile.providers, ...added.providers },
		};
	};
	return {
		current: () => current,
		extend(more) {
			added = { models: { ...added.models, ...more.models }, providers: { ...added.providers, ...more.providers } };
			merge();
		},
		reload: createSharedRun(async () => {
			const { models, providers, defaultModel } = await read();
			fromFile = { ...first, models, providers, defaultModel };
			merge();
		}),
	};
}
