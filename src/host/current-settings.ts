// The settings of a running program. A sign-in changes models and providers in the file, which sessions that are composed
// later use; everything else stays as it was at the start, where it was checked and much of it was applied.
import { createSharedRun } from "../base/shared-run.ts";
import type { Configuration } from "../settings/config/configuration.ts";

export interface CurrentSettings {
	/** The settings of sessions that are composed now. */
	current(): Configuration;
	/** Reads models and providers again. When that fails, the settings are as before. */
	reload(): Promise<void>;
	/** Adds models and providers that are in no file; they stay when it is read again. */
	extend(added: Pick<Configuration, "models" | "providers">): void;
}

/** `read` reads the settings that were `first` at the start. */
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
