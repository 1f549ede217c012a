// What commands print on stdout: whether it got there is part of how they went.
import { errorText, systemErrorCode } from "../base/errors.ts";

/**
 * Runs a command that prints, and waits for its output to be written; returns the exit code. Output that cannot be
 * written makes that 1, with a word on stderr unless the reader has just gone.
 */
export async function withOutput(run: () => number | Promise<number>): Promise<number> {
	const failures: Error[] = [];
	process.stdout.on("error", (error) => failures.push(error));
	process.stderr.on("error", () => {});
	const code = await run();
	// Behind all that was printed; the failures of that are known by then.
	await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
	await new Promise<void>((resolve) => setImmediate(resolve));
	const [failure] = failures;
	if (failure === undefined) return code;
	if (systemErrorCode(failure) !== "EPIPE") process.stderr.write(`stdout: ${errorText(failure)}\n`);
	return code === 0 ? 1 : code;
}
