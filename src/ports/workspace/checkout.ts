// Writes a session's files as of a point to a new directory: complete or missing, except for a worktree, which git creates first.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { KernelError } from "../../base/errors.ts";
import { type Entry, type FileEntry, isSameEntry, whyNotRestorable } from "./entry.ts";
import { readPath } from "./file-bytes.ts";
import type { GitSource } from "./git-source.ts";
import type { LeftPath } from "./restore.ts";
import { look } from "./walk.ts";

export interface CheckoutRequest {
	/** Where to write; absolute, missing or empty. */
	readonly directory: string;
	/** Registers the directory as a worktree of the user's repository, which writes to its `.git`. */
	readonly worktree: boolean;
	/** Why a file must not be written, or null. */
	refuse(target: string): Promise<string | null>;
}

export interface CheckoutSource {
	/** With links resolved. */
	readonly workDir: string;
	/** States by path relative to the work directory. */
	readonly entries: ReadonlyMap<string, Entry>;
	readonly git: GitSource;
	readonly sizeLimit: number;
	content(entry: FileEntry): Promise<Buffer | null>;
}

export interface Checkout {
	/** With links resolved. */
	readonly directory: string;
	/** Paths that were not written, relative to the directory. */
	readonly left: readonly LeftPath[];
	discard(): Promise<void>;
}

/** Fails with `invalid-input` for an unusable directory. */
export async function checkOut(source: CheckoutSource, request: CheckoutRequest): Promise<Checkout> {
	const { git } = source;
	const directory = await checkTarget(request.directory, source.workDir);
	if (request.worktree) {
		const reason = await git.addWorktree(directory);
		if (reason !== null) throw unusable(`There is no git worktree at ${directory}: ${reason}`);
	}
	const discard = async () => {
		if (request.worktree) await git.removeWorktree(directory);
		await rm(directory, { recursive: true, force: true });
	};
	const name = `.agentwire-fork-${randomBytes(6).toString("hex")}`;
	const staged = request.worktree ? directory : path.join(path.dirname(directory), name);
	try {
		if (!request.worktree) await mkdir(staged, { mode: 0o700 });
		const left = await writeAll(source, staged, (file) => request.refuse(path.join(directory, file)));
		if (!request.worktree) await rename(staged, directory);
		return { directory, left, discard };
	} catch (thrown) {
		if (request.worktree) await discard();
		else await rm(staged, { recursive: true, force: true });
		throw thrown;
	}
}

/** The directory with links in its parent resolved. */
async function checkTarget(named: string, workDir: string): Promise<string> {
	if (!path.isAbsolute(named) || named.includes("\0")) {
		throw unusable(`The directory of a fork must be an absolute path, and is ${JSON.stringify(named)}.`);
	}
	const wanted = path.resolve(named);
	refuseInside(wanted, workDir);
	await mkdir(path.dirname(wanted), { recursive: true });
	const directory = path.join(await realpath(path.dirname(wanted)), path.basename(wanted));
	refuseInside(directory, workDir);
	const seen = look(directory);
	if (seen === null) return directory;
	if (seen.kind !== "directory") throw unusable(`${directory} exists and is not a directory.`);
	if ((await readdir(directory)).length > 0) {
		throw unusable(`${directory} exists and is not empty. Choose a new directory.`);
	}
	return directory;
}

function refuseInside(directory: string, workDir: string): void {
	if (directory.split(path.sep).includes(".git")) throw unusable(`${directory} is inside a repository's .git.`);
	if (directory === workDir || directory.startsWith(workDir + path.sep)) {
		throw unusable(`${directory} is inside the work directory ${workDir}. Choose a directory outside of it.`);
	}
}

async function writeAll(
	source: CheckoutSource,
	target: string,
	refuse: (file: string) => Promise<string | null>,
): Promise<readonly LeftPath[]> {
	const left: LeftPath[] = [];
	const modes: (readonly [directory: string, mode: number])[] = [];
	for (const [file, entry] of [...source.entries].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
		const reason = whyNotBelow(file, source.entries) ?? whyNotRestorable(entry) ?? (await refuse(file));
		const at = path.join(target, file);
		if (reason !== null) left.push({ path: file, reason });
		else if (entry.kind === "directory") {
			await mkdir(at, { mode: 0o700, recursive: true });
			modes.push([at, entry.mode]);
		} else if (entry.kind === "link") await inParent(at, () => symlink(entry.target, at));
		else if (entry.kind === "file") {
			const bytes = await bytesOf(source, file, entry);
			if (bytes === null) left.push({ path: file, reason: "its content is not stored any more" });
			else {
				await inParent(at, () => writeFile(at, bytes, { mode: 0o600, flag: "wx" }));
				await chmod(at, entry.mode);
			}
		}
	}
	for (const [directory, mode] of modes.toReversed()) await chmod(directory, mode);
	await chmod(target, look(source.workDir)?.mode ?? 0o700);
	return left;
}

/** Links must not redirect writes elsewhere. */
function whyNotBelow(file: string, entries: ReadonlyMap<string, Entry>): string | null {
	for (let parent = path.dirname(file); parent !== "."; parent = path.dirname(parent)) {
		if ((entries.get(parent)?.kind ?? "directory") !== "directory") return `${parent} was no directory then`;
	}
	return null;
}

/** From the disk if unchanged there, else from the store. */
async function bytesOf(source: CheckoutSource, file: string, entry: FileEntry): Promise<Buffer | null> {
	const read = await readPath(path.join(source.workDir, file), source.sizeLimit);
	if (read !== null && isSameEntry(read.entry, entry)) return read.bytes;
	return await source.content(entry);
}

/** The parent is missing if it was left. */
async function inParent(target: string, work: () => Promise<void>): Promise<void> {
	await mkdir(path.dirname(target), { recursive: true });
	await work();
}

function unusable(message: string): KernelError {
	return new KernelError("invalid-input", message);
}
