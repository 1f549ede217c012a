import { oneLine } from "../../base/text/sentence.ts";

export class UsageError extends Error {
	override readonly name = "UsageError";
}

/** For `permissions`, whose other exit codes are decisions. */
export const permissionsFailureCode = 3;

export function usageExitCode(command: string | null): number {
	if (command === "claude") return 1;
	return command === "permissions" ? permissionsFailureCode : 2;
}

/** Formats a usage error for stderr, with a newline. Points to the command's help if it has its own. */
export function usageErrorText(error: UsageError, executableName: string, command: string | null): string {
	const named = command === null ? executableName : `${executableName} ${command}`;
	// The message may quote user input.
	return `Error: ${oneLine(error.message)}\nTry '${named} --help' for help.\n`;
}
