// Files whose content is kept from models. Judges paths with all links resolved.
import path from "node:path";
import { foldName } from "./folded-name.ts";
import type { Admit, Files } from "./port.ts";
import { isTemporaryName } from "./temporaries.ts";

/** `own`: our settings and sign-ins. `process`: a running process's file. `rule`: a permission rule denies it. */
export type SecretKind = "name" | "own" | "process" | "rule";

const exemptNames: ReadonlySet<string> = new Set([".env.example", ".env.sample", ".env.template"]);
const sensitiveNames: ReadonlySet<string> = new Set([".env", "id_rsa", "id_ed25519", "id_ecdsa", "credentials"]);
const sensitiveEnds: readonly string[] = ["/.aws/credentials", "/.gcp/credentials"];

/** Share directory subdirectories with keys, and name parts of files with keys, including editor backups. */
const ownDirectories: ReadonlySet<string> = new Set(["credentials", "mcp-oauth"]);
const ownNames: readonly string[] = ["config.toml", "config.json", "mcp.json", "gateway.json"];

/** At any mount point of the process file system. `cmdline` may contain settings from a command line. */
const processFile = /\/proc\/(?:(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(?:environ|mem|cmdline)|kcore)$/;

/** Stricter than file systems: some programs also treat wide and narrow forms of a letter as the same. */
const folded = (name: string) => foldName(name.normalize("NFKC"));

/** Judges a path by its last name only; also pass the resolved path if a link may hide it. */
export function isSensitiveFile(filePath: string): boolean {
	const name = folded(path.basename(filePath));
	if (exemptNames.has(name)) return false;
	if (sensitiveNames.has(name) || name.startsWith(".env.")) return true;
	return sensitiveEnds.some((end) => `/${folded(filePath)}`.endsWith(end));
}

/** The error for a file that must not be read. It looks like a permission error of the system. */
export class SecretFileError extends Error {
	override readonly name = "SecretFileError";
	readonly code = "EACCES";
	readonly path: string;
	readonly kind: SecretKind;

	constructor(file: string, kind: SecretKind) {
		super(`${file} ${whyNotRead[kind]}`);
		this.path = file;
		this.kind = kind;
	}
}

/** Follows a file name in messages: a clause without a full stop. */
export const whyNotRead: Readonly<Record<SecretKind, string>> = {
	name: "may hold secrets and is not read, to protect them",
	own: "holds settings, keys or sign-ins of this program and is not read, to protect them",
	rule: "is denied by a permission rule and is not read",
	process: "shows what a process was started with or has in memory, secrets included, and is not read",
};

export interface SecretPaths {
	/** Why the file at the path (absolute, links resolved) must not be read; null if it may be. */
	kindOf(resolved: string): Promise<SecretKind | null>;
	/** For many paths in one operation: reads the plugins' files only once. */
	forMany(): Pick<SecretPaths, "kindOf" | "admit">;
	/** Throws SecretFileError for files that must not be read. */
	readonly admit: Admit;
}

/** Rejects secret-like names and process files: for files that the program reads for itself. */
export const admitByName: Admit = async (resolved) => {
	const kind = kindByPath(resolved);
	if (kind !== null) throw new SecretFileError(resolved, kind);
};

function kindByPath(resolved: string): SecretKind | null {
	if (isSensitiveFile(resolved)) return "name";
	return processFile.test(resolved) ? "process" : null;
}

export interface SecretPlaces {
	readonly files: Pick<Files, "resolve">;
	/** Absolute; need not exist. */
	readonly shareDirs: readonly string[];
	/** Additional files of ours, absolute. */
	readonly ownFiles: readonly string[];
	/** Plugin files that contain keys given to plugins; called when a plugin file is read. */
	pluginFiles(): Promise<readonly string[]>;
}

export function createSecretPaths({ files, shareDirs, ownFiles, pluginFiles }: SecretPlaces): SecretPaths {
	const resolveAll = (paths: readonly string[]) =>
		Promise.all(paths.map((name) => files.resolve(name).catch(() => name)));
	let resolving: Promise<{ readonly roots: readonly string[]; readonly own: ReadonlySet<string> }> | null = null;
	const places = () => {
		resolving ??= Promise.all([resolveAll(shareDirs), resolveAll(ownFiles)]).then(([roots, own]) => ({
			roots: [...new Set([...shareDirs, ...roots].map(folded))],
			own: new Set([...ownFiles, ...own].map(folded)),
		}));
		return resolving;
	};

	const pluginNames = async (): Promise<ReadonlySet<string>> =>
		new Set((await resolveAll(await pluginFiles())).map(folded));

	const isOwn = async (resolved: string, ofPlugins: () => Promise<ReadonlySet<string>>): Promise<boolean> => {
		const name = folded(resolved);
		const { roots, own } = await places();
		if (own.has(name)) return true;
		for (const root of roots) {
			if (!name.startsWith(root + path.sep)) continue;
			const [first = "", ...inner] = name.slice(root.length + 1).split(path.sep);
			if (ownDirectories.has(first)) return true;
			if (inner.length === 0 && (isTemporaryName(first) || ownNames.some((part) => first.includes(part)))) return true;
			// Copies of files that may contain secrets.
			if (first === "sessions" && inner.includes("file-history")) return true;
			if (first === "plugins" && (await ofPlugins()).has(name)) return true;
		}
		return false;
	};

	const kindOf = async (resolved: string, ofPlugins = pluginNames): Promise<SecretKind | null> =>
		(await isOwn(resolved, ofPlugins)) ? "own" : kindByPath(resolved);

	const admitting =
		(judge: SecretPaths["kindOf"]): Admit =>
		async (resolved) => {
			const kind = await judge(resolved);
			if (kind !== null) throw new SecretFileError(resolved, kind);
		};

	return {
		kindOf: (resolved) => kindOf(resolved),
		forMany() {
			let known: Promise<ReadonlySet<string>> | null = null;
			const ofPlugins = () => {
				known ??= pluginNames();
				return known;
			};
			const judge = (resolved: string) => kindOf(resolved, ofPlugins);
			return { kindOf: judge, admit: admitting(judge) };
		},
		admit: admitting((resolved) => kindOf(resolved)),
	};
}
