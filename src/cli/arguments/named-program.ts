// Parses a program named by a flag: an executable, or a JSON list with its arguments. It is started without a shell.
import { errorText } from "../../base/errors.ts";
import { findProgram } from "../../ports/processes/search-path.ts";
import type { ProgramProcess } from "../process/program-process.ts";
import { UsageError } from "./usage-error.ts";

export interface NamedProgram {
	readonly file: string;
	readonly arguments: readonly string[];
}

export function readNamedProgram(flag: string, value: string): NamedProgram {
	if (!value.trimStart().startsWith("[")) return { file: value, arguments: [] };
	let list: unknown;
	try {
		list = JSON.parse(value);
	} catch (thrown) {
		throw new UsageError(`${flag} is not a JSON list: ${errorText(thrown)}`);
	}
	const words = Array.isArray(list) ? list.filter((word) => typeof word === "string") : [];
	const [file = "", ...rest] = words;
	if (!Array.isArray(list) || words.length < list.length || file === "") {
		throw new UsageError(`${flag} takes a program, or a list of it and its arguments: '["program", "argument"]'.`);
	}
	return { file, arguments: rest };
}

/** A name with a slash is relative to `currentDir`, other names are searched in `searchPath`. Throws UsageError. */
export function locateNamedProgram(
	flag: string,
	program: NamedProgram,
	currentDir: string,
	searchPath: string | undefined,
): NamedProgram {
	const { file } = program;
	const found = findProgram(file, searchPath, currentDir);
	if (found !== null) return { ...program, file: found };
	const where = file.includes("/") ? `from ${currentDir}` : "in the directories of PATH";
	throw new UsageError(`${flag} names a program that was not found ${where} or is not executable: ${file}`);
}

export function findNamedProgram(
	flag: string,
	value: string | null,
	{ place, environment }: Pick<ProgramProcess, "place" | "environment">,
): NamedProgram | null {
	return value === null
		? null
		: locateNamedProgram(flag, readNamedProgram(flag, value), place.currentDir, environment["PATH"]);
}
