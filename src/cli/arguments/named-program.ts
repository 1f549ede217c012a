// A program that a flag names: its file, or a JSON list of it and its arguments. It is started without a shell.
import { errorText } from "../../base/errors.ts";
import { UsageError } from "./usage-error.ts";

export interface NamedProgram {
	readonly file: string;
	readonly arguments: readonly string[];
}

/** Throws UsageError, which names the flag. */
export function readNamedProgram(flag: string, value: string): NamedProgram {
	if (!value.trimStart().startsWith("[")) return { file: value, arguments: [] };
	let list: unknown;
	try {
		list = JSON.parse(value);
	} catch (thrown) {
		throw new UsageError(`${flag} is no list in JSON: ${errorText(thrown)}`);
	}
	const words = Array.isArray(list) ? list.filter((word) => typeof word === "string") : [];
	const [file = "", ...rest] = words;
	if (!Array.isArray(list) || words.length < list.length || file === "") {
		throw new UsageError(`${flag} takes a program, or a list of it and its arguments: '["program", "argument"]'.`);
	}
	return { file, arguments: rest };
}
