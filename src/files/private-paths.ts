// What is for its owner alone: the files that the program keeps in its share directory. They are made so, and what an
// earlier version left open to others is closed when it is opened.
import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import path from "node:path";

/**
 * `kept` is for its owner alone from the beginning and is made so where it is found otherwise. `begun` is made so, and
 * left as it is where it is there: it may be shared on purpose. `open` is as the umask has it.
 */
export type Privacy = "kept" | "begun" | "open";

/** The privacy of an absolute path. */
export type PrivacyOf = (target: string) => Privacy;

export const openToAll: PrivacyOf = () => "open";

/** What others than the owner may do. */
export const othersMode = 0o077;

/** Directories of a share directory that the program alone fills. Skills, for one, are the person's. */
const ownDirectories: ReadonlySet<string> = new Set([
	"credentials",
	"leases",
	"logs",
	"mcp-oauth",
	"plans",
	"plugins",
	"sessions",
]);

/** Files in it, with their locks and with what is kept of earlier ones. */
const ownFiles = /^(config\.(toml|json)|kimi\.json|mcp\.json)(\.|$)/;

/** What is kept in these share directories (absolute). */
export function privateBelow(...shareDirs: readonly string[]): PrivacyOf {
	const roots = [...new Set(shareDirs)];
	return (target) => {
		for (const root of roots) {
			if (target === root) return "begun";
			if (!target.startsWith(root + path.sep)) continue;
			const [first = "", ...inner] = target.slice(root.length + 1).split(path.sep);
			if (ownDirectories.has(first) || (inner.length === 0 && ownFiles.test(first))) return "kept";
		}
		return "open";
	};
}

/** A directory of the program's own wherever it lies, and all below it. */
export function privateWithin(directory: string): PrivacyOf {
	return (target) => (target === directory || target.startsWith(directory + path.sep) ? "kept" : "open");
}

/** Directories that were looked at; more than this many are looked at again. */
const knownLimit = 1000;

/** Closes what others could read. Only what belongs to the user of this process, and never what a link leads to. */
export interface Closing {
	/** The file that is open, and the directories that lead to it. */
	closeFile(handle: FileHandle, target: string): Promise<void>;
	/** A directory and those above it, as far as they are kept; nothing for those that are not there. */
	closeDirectories(directory: string): Promise<void>;
}

export function createClosing(privacyOf: PrivacyOf): Closing {
	const known = new Set<string>();
	return {
		async closeFile(handle, target) {
			const status = await handle.stat();
			if (!status.isFile() || !isOpenToOthers(status)) return;
			// A link may lead to a file that the person keeps elsewhere and shares.
			if ((await lstat(target).catch(() => null))?.isFile() !== true) return;
			await changeMode(handle, status.mode);
		},
		async closeDirectories(directory) {
			for (
				let current = directory;
				privacyOf(current) === "kept" && !known.has(current);
				current = path.dirname(current)
			) {
				const status = await lstat(current).catch(() => null);
				if (status === null) continue;
				if (known.size >= knownLimit) known.clear();
				known.add(current);
				if (status.isDirectory() && isOpenToOthers(status)) await closeDirectory(current);
			}
		},
	};
}

/** Whether others may do anything with it, and the user of this process may change that. */
export function isOpenToOthers({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
	return (mode & othersMode) !== 0 && uid === process.geteuid?.();
}

async function closeDirectory(directory: string): Promise<void> {
	try {
		const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
		try {
			await changeMode(handle, (await handle.stat()).mode);
		} finally {
			await handle.close();
		}
	} catch {
		// It is gone, a link by now, or on a file system that knows no modes: it is used as it is.
	}
}

/** A file system without modes, or one that is read-only, is no reason not to go on. */
async function changeMode(handle: FileHandle, mode: number): Promise<void> {
	await handle.chmod(mode & 0o7700).catch(() => undefined);
}
