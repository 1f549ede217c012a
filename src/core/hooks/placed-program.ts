// Hooks run in the work directory, and their programs come from where the settings are.
import path from "node:path";
import { shellWord } from "../../base/text/quoting.ts";

/** Assignments before the program, and a path that is relative and needs no quotes. */
const relativeProgram =
	/^(?<before>\s*(?:\w+=[\w./:@%+,-]*\s+)*)(?<program>(?![/~-])[\w.@%+,-]*\/[\w./@%+,-]+)(?=$|[\s;&|<>)])/;

/** The command with its program, if that is a relative path, resolved against the directory of the settings file. */
export function withPlacedProgram(command: string, settingsDir: string): string {
	const { before = "", program } = relativeProgram.exec(command)?.groups ?? {};
	if (program === undefined) return command;
	const rest = command.slice(before.length + program.length);
	return `${before}${shellWord(path.resolve(settingsDir, program))}${rest}`;
}
