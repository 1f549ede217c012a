// Where programs are found: by the rules of exec, and for our own starts without what depends on the current directory.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isWithin } from "./confinement/replaceable-links.ts";

type Environment = Readonly<Record<string, string>>;

/** Finds a program by the rules of exec: a name with a slash is a path, any other is looked up. Null when absent. */
export function findProgram(name: string, searchPath: string | undefined, workDir: string): string | null {
	if (name.includes("\0") || name === "") return null;
	const directories = name.includes("/") ? [workDir] : (searchPath?.split(":") ?? []);
	return directories.map((directory) => path.resolve(workDir, directory, name)).find(isProgram) ?? null;
}

/**
 * The environment for a program that we start by ourselves: PATH without relative and empty entries, which stand for
 * directories of the project, and without entries in `excluded` directories, whatever links lead there.
 */
export function withTrustedPath(environment: Environment, excluded: readonly string[] = []): Environment {
	const searchPath = environment["PATH"];
	if (searchPath === undefined) return environment;
	const isOutside = isOutsideOf(excluded);
	const kept = searchPath.split(":").filter((entry) => path.isAbsolute(entry) && isOutside(entry));
	return { ...environment, PATH: kept.join(":") };
}

/** The first program of this name on PATH that is not in the excluded directories; null for none. */
export function findTrustedProgram(name: string, environment: Environment, excluded: readonly string[]): string | null {
	const isOutside = isOutsideOf(excluded);
	const directories = (withTrustedPath(environment, excluded)["PATH"] ?? "").split(":");
	return directories.map((entry) => path.join(entry, name)).find((file) => isProgram(file) && isOutside(file)) ?? null;
}

function isOutsideOf(directories: readonly string[]): (file: string) => boolean {
	// Where nothing is excluded, no file of PATH is looked at.
	if (directories.length === 0) return () => true;
	const roots = directories.flatMap((directory) => [path.resolve(directory), resolved(directory)]);
	return (file) => ![path.resolve(file), resolved(file)].some((each) => roots.some((root) => isWithin(each, root)));
}

function resolved(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		return path.resolve(file);
	}
}

/** Whether the file can be run by this process. */
export function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
