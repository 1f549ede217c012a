// The error of an invalid command line, with the exit code 2, as usual for command-line programs; 3 for a command whose exit code 2 is an answer, 1 where
// clients expect that.
import { oneLine } from "../../base/text/sentence.ts";

export class UsageError extends Error {
	override readonly name = "UsageError";
}

/** Of `permissions`, whose other codes are decisions. */
export const permissionsFailureCode = 3;

/** The exit code for a wrong line of this command, null for the program's own. */
export function usageExitCode(command: string | null): number {
	if (command === "claude") return 1;
	return command === "permissions" ? permissionsFailureCode : 2;
}

/** The text on stderr for a usage error, with its newline. It leads to the help of the command, if it is one's own. */
export function usageErrorText(error: UsageError, executableName: string, command: string | null): string {
	const named = command === null ? executableName : `${executableName} ${command}`;
	// The message may quote what was typed.
	return `Error: ${oneLine(error.message)}\nTry '${named} --help' for help.\n`;
}
