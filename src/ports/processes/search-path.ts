import { accessSync, constants, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isWithin } from "./confinement/replaceable-links.ts";

type Environment = Readonly<Record<string, string>>;

/** Finds a program by exec rules: a name with a slash is a path, others are looked up on PATH. Null if missing. */
export function findProgram(name: string, searchPath: string | undefined, workDir: string): string | null {
	if (name.includes("\0") || name === "") return null;
	const directories = name.includes("/") ? [workDir] : (searchPath?.split(":") ?? []);
	return directories.map((directory) => path.resolve(workDir, directory, name)).find(isProgram) ?? null;
}

/** PATH without relative and empty entries, and without entries that resolve into `excluded`. */
export function withTrustedPath(environment: Environment, excluded: readonly string[] = []): Environment {
	const searchPath = environment["PATH"];
	if (searchPath === undefined) return environment;
	const isOutside = isOutsideOf(excluded);
	const kept = searchPath.split(":").filter((entry) => path.isAbsolute(entry) && isOutside(entry));
	return { ...environment, PATH: kept.join(":") };
}

/** The first program with this name on PATH outside the excluded directories, or null. */
export function findTrustedProgram(name: string, environment: Environment, excluded: readonly string[]): string | null {
	const isOutside = isOutsideOf(excluded);
	const directories = (withTrustedPath(environment, excluded)["PATH"] ?? "").split(":");
	return directories.map((entry) => path.join(entry, name)).find((file) => isProgram(file) && isOutside(file)) ?? null;
}

function isOutsideOf(directories: readonly string[]): (file: string) => boolean {
	// Without exclusions, PATH files are not inspected.
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

export function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
