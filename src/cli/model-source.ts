// Determines the model of a program without a configuration, for callers that check before starting a server.
import { silentLog } from "../base/log.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import type { Files } from "../ports/files/port.ts";
import { privateBelow } from "../ports/files/private-paths.ts";
import type { Configuration } from "../settings/config/configuration.ts";
import { readConfiguration } from "../settings/config/configuration-reader.ts";
import { type EnvironmentModel, withEnvironmentModels } from "../settings/config/environment-models.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "./paths.ts";
import { environmentVariables } from "./process/environment.ts";

export interface StartSettings {
	/** Includes the models that environment keys provide. */
	readonly configuration: Configuration;
	readonly isWritten: boolean;
	readonly chosen: EnvironmentModel | null;
}

/** A file that may be missing, or the settings themselves. */
export type StartSource = string | { readonly kind: "text"; readonly text: string };

/** The settings a server would start with. Throws ConfigurationError. */
export async function readStartSettings(
	given: StartSource,
	environment: Readonly<Record<string, string>>,
	files: Files,
): Promise<StartSettings> {
	const isWritten = typeof given !== "string" || (await files.status(given)) !== null;
	const file = typeof given === "string" ? ({ kind: "file", path: given } as const) : given;
	const source = isWritten ? file : ({ kind: "text", text: "{}" } as const);
	const { configuration: written } = await readConfiguration(source, files, silentLog);
	return { ...withEnvironmentModels(written, environment), isWritten };
}

export async function describeModelSource(): Promise<EnvironmentModel | null> {
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, { currentDir: currentDirectory(), home: homeDirectory() });
	const files = createDiskFiles(privateBelow(shareDir));
	try {
		return (await readStartSettings(`${shareDir}/config.toml`, environment, files)).chosen;
	} catch {
		return null;
	}
}
