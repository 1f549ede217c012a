// A command line that cannot be followed. Exit code 2, as command-line programs have it.
import { oneLine } from "../base/sentence.ts";

export class UsageError extends Error {
	override readonly name = "UsageError";
	readonly exitCode = 2;
}

/** What goes to stderr for a usage error, with its newline. */
export function usageErrorText(error: UsageError, executableName: string): string {
	// It may repeat what was typed.
	return `Error: ${oneLine(error.message)}\nTry '${executableName} --help' for help.\n`;
}
