import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import { isSystemError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { oneLine } from "../../base/text/sentence.ts";
import {
	type FoundPlugin,
	findPlugins,
	type HostValues,
	manifestName,
	type Plugin,
} from "../../core/definitions/plugin.ts";
import type { Place } from "../../host/place.ts";
import { productName, productVersion } from "../../host/product.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import type { Files } from "../../ports/files/port.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { temporaryName } from "../../ports/files/temporaries.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { selectDefaultProvider } from "../../settings/config/model-selection.ts";
import type { PluginAction } from "../arguments/options/plugin-options.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { environmentVariables } from "../process/environment.ts";
import { endInTime } from "../process/process-exit.ts";
import { handleStopSignals } from "../process/stop-signals.ts";
import { whileShown } from "../process/waiting-line.ts";
import { type InstallSettings, installPlugin } from "./plugin-installation.ts";
import { PluginError } from "./plugin-source.ts";

export interface PluginAnswer {
	readonly results: readonly string[];
	readonly faults: readonly string[];
}

export async function runPlugin(action: PluginAction): Promise<number> {
	const stopping = new AbortController();
	handleStopSignals(() => {
		endInTime(() => 1, null);
		stopping.abort();
	});
	const place: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const files = createDiskFiles(privateBelow(shareDir));
	try {
		const { results, faults } = await answerPlugin(action, {
			files,
			shareDir,
			environment,
			place,
			processes: createProcesses(),
			host: { name: productName, version: productVersion },
			values: () => readHostValues(files, shareDir, environment),
			signal: stopping.signal,
			now: () => systemClock.now(),
		});
		process.stdout.write(toText(results));
		process.stderr.write(toText(faults));
		return 0;
	} catch (thrown) {
		if (!isExpected(thrown)) throw thrown;
		process.stderr.write(toText([redactSecrets(`Error: ${fileFailureText(thrown)}`)]));
		return 1;
	}
}

const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

/** Whether the user can fix the problem: the plugin, the settings, the disk. */
function isExpected(thrown: unknown): boolean {
	return thrown instanceof PluginError || thrown instanceof ConfigurationError || isSystemError(thrown);
}

async function readHostValues(
	files: Files,
	shareDir: string,
	environment: Readonly<Record<string, string>>,
): Promise<HostValues> {
	const { configuration } = await readConfiguration({ kind: "default", shareDir }, files, silentLog);
	const { apiKey, baseUrl } = selectDefaultProvider(configuration, environment);
	return { api_key: apiKey, base_url: baseUrl };
}

export async function answerPlugin(action: PluginAction, settings: InstallSettings): Promise<PluginAnswer> {
	switch (action.name) {
		case "install":
			return await whileShown("Installing the plugin", () => install(action.source, settings));
		case "list":
			return list(await findPlugins(settings.files, settings.shareDir));
		case "remove":
			return await remove(action.plugin, settings);
		case "info": {
			const found = await find(action.plugin, settings);
			if (found.reading.ok) return { results: describe(found.reading.plugin), faults: [] };
			throw new PluginError(toFault(found.directory, found.reading.reason));
		}
	}
}

async function install(source: string, settings: InstallSettings): Promise<PluginAnswer> {
	const { plugin, replaced, missing } = await installPlugin(source, settings);
	const before = replaced === null ? "" : ` in place of ${replaced}`;
	const tools = plugin.tools.length === 0 ? "no tools" : `tools: ${plugin.tools.map(({ name }) => name).join(", ")}`;
	return {
		results: [`Installed ${plugin.name} ${oneLine(plugin.version)}${before}, ${tools}.`],
		faults: missing.map(
			(name) =>
				`The plugin needs ${name}, which the settings of the default model's provider lack. Set it, then install again. The key of a provider that you signed in to is passed to the plugin with each call.`,
		),
	};
}

function list(found: readonly FoundPlugin[]): PluginAnswer {
	const lines = found.flatMap(({ reading }) => {
		if (!reading.ok) return [];
		const { name, version, description } = reading.plugin;
		return oneLine(`${name} ${version}${description === "" ? "" : `: ${description}`}`);
	});
	return {
		results: lines.length === 0 ? ["There are no plugins."] : lines.sort(),
		faults: found.flatMap(({ directory, reading }) => (reading.ok ? [] : toFault(directory, reading.reason))),
	};
}

async function remove(name: string, settings: InstallSettings): Promise<PluginAnswer> {
	const { files, shareDir } = settings;
	const { directory } = await find(name, settings);
	// Moved away first, so that no process sees a half-deleted plugin.
	const aside = path.join(shareDir, "plugins", temporaryName());
	await files.rename(directory, aside);
	await files.remove(aside);
	return { results: [`Removed ${name}.`], faults: [] };
}

async function find(name: string, { files, shareDir }: InstallSettings): Promise<FoundPlugin> {
	const all = await findPlugins(files, shareDir);
	const found =
		all.find(({ reading }) => reading.ok && reading.plugin.name === name) ??
		all.find(({ directory }) => path.basename(directory) === name);
	if (found !== undefined) return found;
	throw new PluginError(`There is no plugin '${name}'. To list the plugins, run '${productName} plugin list'.`);
}

function describe({ name, version, description, directory, configFile, inject, tools, runtime }: Plugin): string[] {
	const row = (label: string, value: string | null) => (value === null || value === "" ? [] : [`${label}: ${value}`]);
	return [
		...row("name", name),
		...row("version", version),
		...row("description", description),
		...row("directory", directory),
		...row("installed by", runtime === null ? null : `${runtime.host} ${runtime.hostVersion}`),
		...row("config file", configFile),
		...Object.entries(inject).flatMap(([key, value]) => row("gets", `${key} = ${value}`)),
		...tools.flatMap((tool) => row("tool", `${tool.name}${tool.description === "" ? "" : `: ${tool.description}`}`)),
	].map(oneLine);
}

const toFault = (directory: string, reason: string) =>
	oneLine(`${path.join(directory, manifestName)} cannot be used: ${reason}.`);
