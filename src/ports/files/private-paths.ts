// New files are created private, and those left open by earlier versions are restricted when opened.
import { type BigIntStats, constants } from "node:fs";
import path from "node:path";
import { linkStatusOf, type OpenFile, openFile } from "./file-calls.ts";

/** `created-private` leaves an existing file's mode, which may be shared on purpose. `open` follows the umask. */
export type Privacy = "private" | "created-private" | "open";

export type PrivacyOf = (target: string) => Privacy;

export const openToAll: PrivacyOf = () => "open";

export const othersMode = 0o077;

/** Share directory subdirectories that only the program writes to. Skills, for example, belong to the user. */
const ownDirectories: ReadonlySet<string> = new Set([
	"credentials",
	"leases",
	"logs",
	"mcp-oauth",
	"plans",
	"plugins",
	"sessions",
	"sockets",
]);

/** The program's files there, including their locks and backups. */
const ownFiles = /^(config\.(toml|json)|kimi\.json|mcp\.json|gateway\.json|open-page\.html)(\.|$)/;

/** Privacy rules for these share directories (absolute). */
export function privateBelow(...shareDirs: readonly string[]): PrivacyOf {
	const roots = [...new Set(shareDirs)];
	return (target) => {
		for (const root of roots) {
			if (target === root) return "created-private";
			if (!target.startsWith(root + path.sep)) continue;
			const [first = "", ...inner] = target.slice(root.length + 1).split(path.sep);
			if (ownDirectories.has(first) || (inner.length === 0 && ownFiles.test(first))) return "private";
		}
		return "open";
	};
}

/** Privacy rules for a program directory anywhere, including its content. */
export function privateWithin(directory: string): PrivacyOf {
	return (target) => (target === directory || target.startsWith(directory + path.sep) ? "private" : "open");
}

/** Maximum directories remembered as checked. */
const knownLimit = 1000;

export interface Closing {
	closeFile(handle: OpenFile, target: string, status: BigIntStats): Promise<void>;
	closeDirectories(directory: string): Promise<boolean>;
	noteMade(directory: string): void;
}

export function createClosing(privacyOf: PrivacyOf): Closing {
	const known = new Set<string>();
	const note = (directory: string): void => {
		if (known.size >= knownLimit) known.clear();
		known.add(directory);
	};
	const close = async (directory: string): Promise<boolean> => {
		const status = await linkStatusOf(directory).catch(() => null);
		if (status === null) return true;
		note(directory);
		if (status.isDirectory() && isOpenToOthers(status)) await closeDirectory(directory);
		return false;
	};
	return {
		async closeFile(handle, target, status) {
			const mode = Number(status.mode);
			if (!status.isFile() || !isOpenToOthers({ mode, uid: Number(status.uid) })) return;
			// A link may lead to a file that the user stores elsewhere and shares.
			if ((await linkStatusOf(target).catch(() => null))?.isFile() !== true) return;
			await changeMode(handle, mode);
		},
		async closeDirectories(directory) {
			const unknown: string[] = [];
			for (
				let current = directory;
				privacyOf(current) === "private" && !known.has(current);
				current = path.dirname(current)
			) {
				unknown.push(current);
			}
			// In parallel: a new session has three of them.
			const [isMissing = false] = await Promise.all(unknown.map(close));
			return isMissing;
		},
		noteMade: note,
	};
}

export function isOpenToOthers({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
	return (mode & othersMode) !== 0 && uid === process.geteuid?.();
}

async function closeDirectory(directory: string): Promise<void> {
	try {
		const handle = await openFile(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
		try {
			await changeMode(handle, (await handle.status()).mode);
		} finally {
			await handle.close();
		}
	} catch {
		// It was removed, became a link, or is on a file system without modes: it is used as it is.
	}
}

/** Ignores file systems that are read-only or without modes. */
async function changeMode(handle: OpenFile, mode: number): Promise<void> {
	await handle.changeMode(mode & 0o7700).catch(() => undefined);
}
