// The program's own files that no model may read: its share directories, its settings file, its plugins.
import path from "node:path";
import { discoverPlugins } from "../../core/definitions/plugin.ts";
import { createSecretPaths, type SecretPaths } from "../../ports/files/secret-paths.ts";
import type { HostServices } from "./host-services.ts";

/** `~/.kimi` counts as well as the share directory: other versions store their secrets there. */
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
