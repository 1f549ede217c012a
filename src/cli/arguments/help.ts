// Help texts for people, generated from the tables of flags and commands.
import { type CommandName, commandNames, commands } from "./commands.ts";
import { withImpliedCommand } from "./executable-name.ts";
import { type Flag, flags } from "./flags.ts";

const nameColumn = 44;

function toLine({ names, value, about }: Pick<Flag, "names" | "value" | "about">): string {
	const left = `  ${names.join(", ")}${value === null ? "" : ` ${value}`}`;
	return left.length < nameColumn ? left.padEnd(nameColumn) + about : `${left}\n${" ".repeat(nameColumn)}${about}`;
}

/** The text of `--help`, with its newline. */
export function helpText(executableName: string, command: CommandName | null): string {
	if (command !== null) return commandHelp(executableName, command);
	return [
		`Usage: ${executableName} [flags]`,
		`       ${executableName} --prompt TEXT [flags]`,
		`       ${executableName} --print [flags] < FILE`,
		`       ${executableName} COMMAND --help`,
		"",
		"A coding agent that other programs drive over stdin and stdout.",
		"",
		"Flags:",
		...flags.map(toLine),
		"",
		"Commands:",
		...commandNames.map((name) => toLine({ names: [name], value: null, about: commands[name].about })),
		"",
		"Settings are read from config.toml in $KIMI_SHARE_DIR, by default ~/.kimi.",
		"",
	].join("\n");
}

function commandHelp(executableName: string, command: CommandName): string {
	const { forms, purpose, flags: ownFlags } = commands[command];
	const isImplied = withImpliedCommand(executableName, []).includes(command);
	const called = isImplied ? executableName : `${executableName} ${command}`;
	return [
		...forms.map(({ words }, index) => `${index === 0 ? "Usage:" : "      "} ${called} ${words}`),
		"",
		purpose,
		"",
		...forms.flatMap(({ words, about }) => (about === undefined ? [] : toLine({ names: [words], value: null, about }))),
		...ownFlags.map(toLine),
		toLine({ names: ["--help", "-h"], value: null, about: "Show this text and exit." }),
		"",
	].join("\n");
}

/** For a person who starts the program on a terminal without saying what it should do. */
export function startText(name: string): string {
	return [
		`${name} "Fix the failing test"   answer one prompt here and exit`,
		`${name} web                      work on a page in the browser`,
		`${name} setup                    choose a model; '${name} --help' lists everything else`,
		"",
	].join("\n");
}
