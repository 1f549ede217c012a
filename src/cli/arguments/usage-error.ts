// The error of an invalid command line. Exit code 2, as usual for command-line programs.
import { oneLine } from "../../base/sentence.ts";

export class UsageError extends Error {
	override readonly name = "UsageError";
	readonly exitCode = 2;
}

/** The text on stderr for a usage error, with its newline. It leads to the help of the command, if it is one's own. */
export function usageErrorText(error: UsageError, executableName: string, command: string | null): string {
	const named = command === null ? executableName : `${executableName} ${command}`;
	// The message may quote what was typed.
	return `Error: ${oneLine(error.message)}\nTry '${named} --help' for help.\n`;
}
