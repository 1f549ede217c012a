import path from "node:path";
import { errorText } from "../base/errors.ts";
import { type Place, toAbsolutePath } from "../host/place.ts";
import type { FileStatus, Files } from "../ports/files/port.ts";
import { UsageError } from "./arguments/usage-error.ts";
import { findHome } from "./home.ts";

/** Node throws if the directory was deleted; its last path still resolves absolute paths and appears in errors. */
export function currentDirectory(): string {
	try {
		return process.cwd();
	} catch (thrown) {
		const last = process.env["PWD"] ?? "";
		if (path.isAbsolute(last)) return last;
		throw new UsageError("The current directory no longer exists.", { cause: thrown });
	}
}

/** Without one, `~` only works below a share directory named by a variable. Throws UsageError. */
export function homeDirectory(): string {
	const home = findHome();
	if (home !== null) return home;
	const shareDir = namedShareDirectory(process.env);
	if (shareDir !== "" && !shareDir.startsWith("~")) return path.resolve(currentDirectory(), shareDir);
	throw new UsageError(
		"There is no home directory: HOME is not set, and the user id has no passwd entry. Set HOME, or KIMI_SHARE_DIR for settings and sessions.",
	);
}

/** As typed; empty if no variable is set. `KIMI_SHARE_DIR` overrides its second name. */
const namedShareDirectory = (environment: Readonly<Record<string, string | undefined>>) =>
	environment["KIMI_SHARE_DIR"] || environment["AGENTWIRE_HOME"] || "";

export function shareDirectory(environment: Readonly<Record<string, string | undefined>>, place: Place): string {
	return toAbsolutePath(namedShareDirectory(environment) || "~/.kimi", place);
}

export async function checkWorkDir(typed: string | null, place: Place, files: Files): Promise<string> {
	return await checkDirectory("--work-dir", typed ?? ".", place, files);
}

export async function checkDirectory(flag: string, typed: string, place: Place, files: Files): Promise<string> {
	const directory = toAbsolutePath(typed, place);
	const kind = await kindOf(flag, directory, files);
	if (kind === "directory") return directory;
	throw new UsageError(`${flag}: ${kind === null ? "there is no directory" : "not a directory:"} ${directory}`);
}

export async function checkFile(flag: string, typed: string, place: Place, files: Files): Promise<string> {
	const file = toAbsolutePath(typed, place);
	const kind = await kindOf(flag, file, files);
	if (kind !== null && kind !== "directory") return file;
	throw new UsageError(`${flag}: ${kind === null ? "there is no file" : "is a directory:"} ${file}`);
}

async function kindOf(flag: string, target: string, files: Files): Promise<FileStatus["kind"] | null> {
	try {
		return (await files.status(target))?.kind ?? null;
	} catch (error) {
		throw new UsageError(`${flag}: ${errorText(error)}`, { cause: error });
	}
}
