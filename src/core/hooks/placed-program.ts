import path from "node:path";
import { shellWord } from "../../base/text/quoting.ts";

/** Leading assignments, then a relative path that needs no quotes. */
const relativeProgram =
	/^(?<before>\s*(?:\w+=[\w./:@%+,-]*\s+)*)(?<program>(?![/~-])[\w.@%+,-]*\/[\w./@%+,-]+)(?=$|[\s;&|<>)])/;

/** The command with a relative program path resolved against the settings file's directory. */
export function withPlacedProgram(command: string, settingsDir: string): string {
	const { before = "", program } = relativeProgram.exec(command)?.groups ?? {};
	if (program === undefined) return command;
	const rest = command.slice(before.length + program.length);
	return `${before}${shellWord(path.resolve(settingsDir, program))}${rest}`;
}
