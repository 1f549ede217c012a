// Which model a program without a configuration uses, for programs and people that ask before they start a server.
import { homedir } from "node:os";
import { silentLog } from "../base/log.ts";
import { readConfiguration } from "../config/configuration-reader.ts";
import { type EnvironmentModel, withEnvironmentModels } from "../config/environment-models.ts";
import { createDiskFiles } from "../files/disk-files.ts";
import { privateBelow } from "../files/private-paths.ts";
import { currentDirectory, shareDirectory } from "./paths.ts";
import { environmentVariables } from "./process/environment.ts";

/** The model that a key in the environment gives; null when the settings name a provider, or cannot be read. */
export async function describeModelSource(): Promise<EnvironmentModel | null> {
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, { currentDir: currentDirectory(), home: homedir() });
	const files = createDiskFiles(privateBelow(shareDir));
	const file = `${shareDir}/config.toml`;
	try {
		const isThere = (await files.status(file)) !== null;
		const source = isThere ? ({ kind: "file", path: file } as const) : ({ kind: "text", text: "{}" } as const);
		const { configuration } = await readConfiguration(source, files, silentLog);
		return withEnvironmentModels(configuration, environment).chosen;
	} catch {
		return null;
	}
}
