// Program files that models may not read: share directories, settings file and plugins.
import path from "node:path";
import { discoverPlugins } from "../../core/definitions/plugin.ts";
import { createSecretPaths, type SecretPaths } from "../../ports/files/secret-paths.ts";
import type { HostServices } from "./host-services.ts";

/** Includes `~/.kimi` besides the share directory: other versions store secrets there. */
export function secretsOf({
	ownFiles: files,
	shareDir,
	home,
	settingsFile,
	secretFiles = [],
	log,
}: Pick<HostServices, "ownFiles" | "shareDir" | "home" | "settingsFile" | "secretFiles" | "log">): SecretPaths {
	const shareDirs = [...new Set([shareDir, path.join(home, ".kimi")])];
	const keyFilesIn = async (directory: string) =>
		(await discoverPlugins({ files, shareDir: directory, log })).flatMap(({ directory: root, configFile, inject }) =>
			configFile === null || Object.keys(inject).length === 0 ? [] : [path.join(root, configFile)],
		);
	return createSecretPaths({
		files,
		shareDirs,
		ownFiles: [...secretFiles, ...(settingsFile === undefined || settingsFile === null ? [] : [settingsFile])],
		pluginFiles: async () => (await Promise.all(shareDirs.map(keyFilesIn))).flat(),
	});
}
