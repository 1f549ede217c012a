// Stages and checks the files in a hidden directory, then renames it. An earlier failure keeps the old version.
import path from "node:path";
import { errorText, isSystemError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import {
	chooseInjected,
	type HostValueName,
	type HostValues,
	manifestName,
	type Plugin,
	readPlugin,
} from "../../core/definitions/plugin.ts";
import type { Files } from "../../ports/files/port.ts";
import { isTemporaryName, temporaryName } from "../../ports/files/temporaries.ts";
import { openSource, PluginError, type SourceSettings, writeTree } from "./plugin-source.ts";

export interface InstallSettings extends SourceSettings {
	readonly shareDir: string;
	readonly host: { readonly name: string; readonly version: string };
	/** Values the plugin may request; called only if it does. */
	values(): Promise<HostValues>;
	now(): number;
}

export interface Installation {
	readonly plugin: Plugin;
	/** The previous version; null if there was none or it was unreadable. */
	readonly replaced: string | null;
	readonly missing: readonly HostValueName[];
}

const earlierName = "earlier";
/** Milliseconds after which an installation workspace is considered abandoned by a killed process. */
const leftoverAge = 60 * 60 * 1000;

export async function installPlugin(typed: string, settings: InstallSettings): Promise<Installation> {
	const { files, shareDir, signal } = settings;
	const root = path.join(shareDir, "plugins");
	await makeRoot(root, files);
	await clearLeftovers(root, settings);
	const workspace = path.join(root, temporaryName());
	const earlier = path.join(workspace, earlierName);
	await files.makeDirectory(workspace);
	let isInstalled = false;
	try {
		const staged = path.join(workspace, "plugin");
		const tree = await openSource(typed, path.join(workspace, "clone"), settings);
		await writeTree(tree, staged, files);
		const plugin = await checkPlugin(staged, files);
		await writeRuntime(staged, settings);
		const missing = await writeInjected(plugin, settings);
		if (signal.aborted) throw new PluginError("The installation was interrupted.");
		const target = path.join(root, plugin.name);
		const before = await readPlugin(target, files);
		await putInPlace(staged, target, earlier, files);
		isInstalled = true;
		return {
			plugin: { ...plugin, directory: target },
			replaced: before.ok ? before.plugin.version : null,
			missing,
		};
	} finally {
		// Keep a moved version that could not be restored. A later installation cleans up the rest.
		const isSpare = isInstalled || (await files.status(earlier)) === null;
		if (isSpare) await files.remove(workspace).catch(() => undefined);
	}
}

async function makeRoot(root: string, files: Files): Promise<void> {
	const status = await files.status(root);
	if (status !== null && status.kind !== "directory") {
		throw new PluginError(`${root} is not a directory, but plugins are stored there. Move it away and install again.`);
	}
	await files.makeDirectory(root);
}

async function clearLeftovers(root: string, settings: InstallSettings): Promise<void> {
	const { files, now } = settings;
	for (const { name, kind } of await files.list(root)) {
		if (kind !== "directory" || !isTemporaryName(name)) continue;
		const workspace = path.join(root, name);
		try {
			const status = await files.status(workspace);
			const isOld = status !== null && status.modifiedAt <= now() - leftoverAge;
			if (isOld) await clearWorkspace(workspace, root, files);
		} catch (thrown) {
			if (!isSystemError(thrown)) throw thrown;
		}
	}
}

/** Removes a workspace, and restores the previous version if it was moved there. */
async function clearWorkspace(workspace: string, root: string, files: Files): Promise<void> {
	const earlier = path.join(workspace, earlierName);
	const reading = await readPlugin(earlier, files);
	const home = reading.ok ? path.join(root, reading.plugin.name) : null;
	if (home !== null && (await files.status(home)) === null) await files.rename(earlier, home);
	await files.remove(workspace);
}

async function checkPlugin(directory: string, files: Files): Promise<Plugin> {
	const reading = await readPlugin(directory, files);
	if (reading.ok) return reading.plugin;
	throw new PluginError(`${manifestName} cannot be used: ${reading.reason}.`);
}

/** Records the installing program in the manifest; keeps its other keys. */
async function writeRuntime(directory: string, { files, host }: InstallSettings): Promise<void> {
	const file = path.join(directory, manifestName);
	const manifest = await readObject(file, manifestName, files);
	await writeObject(file, { ...manifest, runtime: { host: host.name, host_version: host.version } }, {}, files);
}

async function writeInjected(
	{ directory, configFile, inject }: Plugin,
	{ files, values }: InstallSettings,
): Promise<HostValueName[]> {
	if (configFile === null || Object.keys(inject).length === 0) return [];
	const given = await values();
	const injected = Object.entries(chooseInjected(inject, given));
	if (injected.length > 0) {
		const file = path.join(directory, configFile);
		const config = injected.reduce(
			(table, [key, value]) => withValue(table, key.split("."), value, `${configFile}: ${key}`),
			await readObject(file, configFile, files),
		);
		await files.makeDirectory(path.dirname(file));
		await writeObject(file, config, { mode: 0o600 }, files);
	}
	return [...new Set(Object.values(inject))].filter((name) => given[name] === "");
}

/** Returns the table with the value at the path, creating tables on the way. `place` is for messages. */
function withValue(
	table: Readonly<Record<string, unknown>>,
	[key = "", ...inner]: readonly string[],
	value: string,
	place: string,
): Record<string, unknown> {
	if (inner.length === 0) return { ...table, [key]: value };
	const next = (Object.hasOwn(table, key) ? table[key] : null) ?? {};
	if (!isRecord(next)) throw new PluginError(`${place} cannot be set: there is no object at ${key}.`);
	return { ...table, [key]: withValue(next, inner, value, place) };
}

async function readObject(file: string, name: string, files: Files): Promise<Record<string, unknown>> {
	try {
		const bytes = await files.read(file);
		const value: unknown = bytes === null ? {} : JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
		if (isRecord(value)) return value;
	} catch (thrown) {
		if (!(thrown instanceof SyntaxError)) throw thrown;
		throw new PluginError(`${name} is not JSON: ${errorText(thrown)}.`);
	}
	throw new PluginError(`${name} does not contain a JSON object.`);
}

async function writeObject(file: string, value: object, options: { readonly mode?: number }, files: Files) {
	await files.replace(file, `${JSON.stringify(value, null, 2)}\n`, options);
}

/** A rename cannot replace a directory, so the previous version is moved away first, and restored if the rename fails. */
async function putInPlace(staged: string, target: string, earlier: string, files: Files): Promise<void> {
	const isThere = (await files.status(target)) !== null;
	if (isThere) await files.rename(target, earlier);
	try {
		await files.rename(staged, target);
	} catch (thrown) {
		if (isThere) await files.rename(earlier, target);
		throw thrown;
	}
}
