// The settings of a running program. A sign-in changes models and providers in the file, which sessions that are composed
// later use; everything else stays as it was at the start, where it was checked and much of it was applied.
import { createSharedRun } from "../base/shared-run.ts";
import type { Configuration } from "../config/configuration.ts";

export interface CurrentSettings {
	/** The settings of sessions that are composed now. */
	current(): Configuration;
	/** Reads models and providers again. When that fails, the settings are as before. */
	reload(): Promise<void>;
}

/** `read` reads the settings that were `first` at the start. */
export function createCurrentSettings(first: Configuration, read: () => Promise<Configuration>): CurrentSettings {
	let current = first;
	return {
		current: () => current,
		reload: createSharedRun(async () => {
			const { models, providers, defaultModel } = await read();
			current = { ...first, models, providers, defaultModel };
		}),
	};
}
