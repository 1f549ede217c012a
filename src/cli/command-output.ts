// Waits until a command's output on stdout was written: a failure of that is a failure of the command.
import { errorText, systemErrorCode } from "../base/errors.ts";

/**
 * Runs a command that prints, and waits for its output to be written; returns the exit code. If the output cannot be
 * written that is 1, with a message on stderr unless the reader has just gone.
 */
export async function withOutput(run: () => number | Promise<number>): Promise<number> {
	const failures: Error[] = [];
	process.stdout.on("error", (error) => failures.push(error));
	process.stderr.on("error", () => {});
	const code = await run();
	// After all that was printed, whose failures are known by then.
	await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
	await new Promise<void>((resolve) => setImmediate(resolve));
	const [failure] = failures;
	if (failure === undefined) return code;
	if (systemErrorCode(failure) !== "EPIPE") process.stderr.write(`stdout: ${errorText(failure)}\n`);
	return code === 0 ? 1 : code;
}
