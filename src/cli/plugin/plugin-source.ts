// Lists a plugin's files, so that they can be checked before anything is written.
import path from "node:path";
import { manifestName } from "../../core/definitions/plugin.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";
import { runGit } from "../../ports/processes/git/git.ts";
import type { Processes } from "../../ports/processes/port.ts";
import { quoted } from "../printable-text.ts";

export class PluginError extends Error {
	override readonly name = "PluginError";
}

export interface SourceFile {
	readonly path: string;
	/** Permission bits; null when unknown. */
	readonly mode: number | null;
	readonly size: number;
	read(): Promise<Uint8Array>;
}

export interface SourceSettings {
	readonly files: Files;
	readonly processes: Processes;
	readonly environment: Readonly<Record<string, string>>;
	readonly place: Place;
	readonly signal: AbortSignal;
}

const mebibyte = 1024 * 1024;
/** Maximum bytes of a plugin, packed or unpacked. */
export const sizeLimit = 100 * mebibyte;
/** Maximum files and directories of a plugin: directory links and long zip paths can multiply a few entries. */
const countLimit = 20_000;
/** Maximum bytes of a path and a name in a plugin; every common file system supports them. */
const pathLimit = 1024;
const nameLimit = 255;
const tooLarge = () => new PluginError(`The plugin is larger than ${sizeLimit / mebibyte} MiB.`);
const tooMany = () => new PluginError(`The plugin has more than ${countLimit} files and directories.`);

const gitUrl = /^(https?|ssh|git|file):\/\/|^[\w.-]+@[\w.-]+:/;
const cloneTimeout = 300_000;
const cloneOutputLimit = 64 * 1024;

export async function openSource(typed: string, cloneDir: string, settings: SourceSettings): Promise<SourceFile[]> {
	const { place } = settings;
	const location = toAbsolutePath(typed, place);
	const tree = await openTree(location, typed, cloneDir, settings);
	checkPaths(tree.map((file) => file.path));
	return tree;
}

async function openTree(
	location: string,
	typed: string,
	cloneDir: string,
	settings: SourceSettings,
): Promise<SourceFile[]> {
	const { files } = settings;
	const status = await files.status(location);
	if (status?.kind === "directory") return await openDirectory(location, typed, files);
	if (status?.kind === "file") {
		if (status.size > sizeLimit) throw tooLarge();
		return await openZip(location, typed, files);
	}
	if (!gitUrl.test(typed)) {
		throw new PluginError(`There is no directory or zip file ${location}, and '${typed}' is not a git URL.`);
	}
	await clone(typed, cloneDir, settings);
	return await openDirectory(cloneDir, typed, files);
}

/** Throws PluginError for invalid or conflicting paths, before anything is written. */
function checkPaths(paths: readonly string[]): void {
	if (paths.length > countLimit) throw tooMany();
	const known = new Set<string>();
	const refuse = (file: string, reason: string) => {
		throw new PluginError(`${quoted(file)} in the plugin ${reason}, and build the plugin again.`);
	};
	for (const file of paths) {
		if (file === "." || file === "") refuse(file, "is not a valid file name. Rename it");
		if (Buffer.byteLength(file) > pathLimit) {
			refuse(file, `has a path of more than ${pathLimit} bytes. Shorten it, or use fewer directories`);
		}
		if (file.split("/").some((name) => Buffer.byteLength(name) > nameLimit)) {
			refuse(file, `has a name of more than ${nameLimit} bytes. Shorten it`);
		}
		if (known.has(file)) refuse(file, "occurs twice. Remove one of them");
		known.add(file);
	}
	const directories = new Set<string>();
	for (const file of paths) {
		for (let end = file.indexOf("/"); end >= 0; end = file.indexOf("/", end + 1)) {
			const parent = file.slice(0, end);
			if (known.has(parent)) refuse(parent, "is both a file and a directory. Rename one of them");
			directories.add(parent);
			if (known.size + directories.size > countLimit) throw tooMany();
		}
	}
}

const noManifest = (typed: string) => new PluginError(`There is no ${manifestName} in ${typed}.`);

async function openDirectory(directory: string, typed: string, files: Files): Promise<SourceFile[]> {
	// Checked first, to avoid walking a whole home directory.
	if ((await files.status(path.join(directory, manifestName))) === null) throw noManifest(typed);
	const root = await files.resolve(directory);
	const found: SourceFile[] = [];
	let total = 0;
	let count = 0;

	const collect = async (current: string, prefix: string, trail: readonly string[]): Promise<void> => {
		for (const { name, kind } of await files.list(current)) {
			if (name === ".git") continue;
			const inner = `${prefix}${name}`;
			count += 1;
			if (count > countLimit) throw tooMany();
			const resolved = await files.resolve(path.join(current, name));
			if (!resolved.startsWith(`${root}${path.sep}`)) {
				throw new PluginError(`${path.join(directory, inner)} is a link that points outside the plugin.`);
			}
			if (kind === "other") {
				throw new PluginError(`${path.join(directory, inner)} is neither a file nor a directory.`);
			}
			if (kind === "directory") {
				if (trail.includes(resolved)) {
					throw new PluginError(`${path.join(directory, inner)} is a circular link.`);
				}
				await collect(resolved, `${inner}/`, [...trail, resolved]);
				continue;
			}
			const status = await files.status(resolved);
			total += status?.size ?? 0;
			if (total > sizeLimit) throw tooLarge();
			found.push({
				path: inner,
				mode: status?.mode ?? null,
				size: status?.size ?? 0,
				read: async () => (await files.read(resolved, sizeLimit)) ?? Buffer.alloc(0),
			});
		}
	};
	await collect(root, "", [root]);
	return found;
}

async function openZip(location: string, typed: string, files: Files): Promise<SourceFile[]> {
	const { readZip, ZipError } = await import("./zip-reader.ts");
	const explained = async <T>(work: () => Promise<T>): Promise<T> => {
		try {
			return await work();
		} catch (thrown) {
			if (thrown instanceof ZipError) throw new PluginError(`${location} cannot be unpacked: ${thrown.message}.`);
			throw thrown;
		}
	};
	const bytes = (await files.read(location, sizeLimit)) ?? Buffer.alloc(0);
	const entries = (await explained(() => readZip(bytes))).filter((entry) => !entry.path.startsWith("__MACOSX/"));
	if (entries.reduce((total, { size }) => total + size, 0) > sizeLimit) throw tooLarge();
	const top = topDirectory(entries.map((entry) => entry.path));
	if (!entries.some((entry) => entry.path === `${top}${manifestName}`)) throw noManifest(typed);
	return entries.map(({ path: file, mode, size, read }) => ({
		path: file.slice(top.length),
		mode,
		size,
		read: () => explained(read),
	}));
}

/** The directory, with its slash, that all files are in when the manifest is in it; else empty. */
function topDirectory(paths: readonly string[]): string {
	const first = paths[0] ?? "";
	const top = first.slice(0, first.indexOf("/") + 1);
	const isCommon = paths.every((file) => file.startsWith(top)) && paths.includes(`${top}${manifestName}`);
	return isCommon ? top : "";
}

async function clone(url: string, directory: string, settings: SourceSettings): Promise<void> {
	const outcome = await runGit(
		{
			words: ["clone", "--quiet", "--depth", "1", "--", url, directory],
			// The settings of a repository around the directory are none of the clone's.
			workDir: "/",
			transports: "file:git:http:https:ssh",
			timeout: cloneTimeout,
			outputLimit: cloneOutputLimit,
		},
		settings,
		settings.signal,
	);
	if (outcome === null) throw new PluginError("git was not found on the PATH.");
	const { ended, output } = outcome;
	switch (ended.kind) {
		case "exited":
			if (ended.exitCode === 0) return;
			throw new PluginError(withoutCredentials(`git could not clone ${url}:\n${output.trim()}`));
		case "signalled":
			throw new PluginError(withoutCredentials(`git was ended by signal ${ended.signal} while it cloned ${url}.`));
		case "timed-out":
			throw new PluginError(withoutCredentials(`git took longer than ${cloneTimeout / 1000} s to clone ${url}.`));
		case "not-started":
			throw new PluginError(`git could not be started: ${ended.reason}.`);
		case "aborted":
			throw new PluginError("The installation was interrupted.");
	}
}

/** URLs may hold a name and a password. */
const withoutCredentials = (text: string) => text.replace(/(?<=:\/\/)[^/@\s]+@/g, "");

export async function writeTree(tree: readonly SourceFile[], directory: string, files: Files): Promise<void> {
	await files.makeDirectory(directory);
	for (const { path: file, mode, read } of tree) {
		const target = path.join(directory, file);
		await files.makeDirectory(path.dirname(target));
		// Others are not let in further than the umask usually does; the owner may always read and replace it.
		await files.replace(target, await read(), mode === null ? {} : { mode: (mode & 0o755) | 0o600 });
	}
}
