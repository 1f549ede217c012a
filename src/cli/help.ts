// Texts that tell a person how to call the program, made from the table of flags.
import type { CommandName } from "./command-line.ts";
import { type Flag, flags } from "./flags.ts";

const nameColumn = 44;

function toLine({ names, value, about }: Pick<Flag, "names" | "value" | "about">): string {
	const left = `  ${names.join(", ")}${value === null ? "" : ` ${value}`}`;
	return left.length < nameColumn ? left.padEnd(nameColumn) + about : `${left}\n${" ".repeat(nameColumn)}${about}`;
}

/** The text of `--help`, with its newline. */
export function helpText(executableName: string, command: CommandName | null): string {
	if (command === "info") {
		return [
			`Usage: ${executableName} info [--json]`,
			"",
			"Show the versions of program, agent files and protocol.",
			"",
			toLine({ names: ["--json"], value: null, about: "One line of JSON." }),
			toLine({ names: ["--help", "-h"], value: null, about: "Show this text and exit." }),
			"",
		].join("\n");
	}
	if (command === "export") {
		return [
			`Usage: ${executableName} export [SESSION_ID] [--output PATH] [--yes]`,
			"",
			"Put a session into a ZIP file: its conversation, events and subagents, its plan, and the program's logs.",
			"Without an id it is the last session of the current directory. The session is only read.",
			"",
			toLine({
				names: ["--output", "-o"],
				value: "PATH",
				about: "File or directory to write to. Default: session-<id>.zip here.",
			}),
			toLine({ names: ["--yes", "-y"], value: null, about: "Do not ask, although there may be secrets in it." }),
			toLine({ names: ["--help", "-h"], value: null, about: "Show this text and exit." }),
			"",
		].join("\n");
	}
	return [
		`Usage: ${executableName} [flags]`,
		`       ${executableName} info [--json]`,
		`       ${executableName} export [SESSION_ID] [--output PATH] [--yes]`,
		"",
		"A coding agent that other programs drive over stdin and stdout.",
		"",
		"Flags:",
		...flags.filter(({ exists }) => exists).map(toLine),
		"",
		"Not available in this version:",
		`  ${flags.flatMap(({ exists, names }) => (exists ? [] : names[0])).join(" ")}`,
		"",
		"Commands:",
		toLine({ names: ["info"], value: null, about: "Show versions; 'info --json' for programs." }),
		toLine({ names: ["export"], value: null, about: "Put a session into a ZIP file." }),
		"",
		"Settings are read from config.toml in $KIMI_SHARE_DIR, by default ~/.kimi.",
		"",
	].join("\n");
}

/** The usage error for a person who starts the program on a terminal without saying what it should do. */
export function startText(executableName: string): string {
	return [
		"This program has no interface of its own: a client drives it over stdin and stdout.",
		"",
		`  ${executableName} --wire           serve on this terminal all the same, one JSON message a line`,
		`  ${executableName} info --json      show versions`,
		`  ${executableName} --help           show all flags`,
		"",
		"To use it from an editor, set the client's path of the 'kimi' executable to this program.",
	].join("\n");
}
