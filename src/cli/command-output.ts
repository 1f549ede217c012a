// Waits until a command's output on stdout was written: a failure of that is a failure of the command.
import { errorText, systemErrorCode } from "../base/errors.ts";
import { writeNotice } from "./process/standard-error.ts";

/**
 * Runs a command that prints, and waits for its output to be written; returns the exit code. If the output cannot be
 * written that is the code of a failure, with a message on stderr unless the reader has just gone; a command whose code is its
 * answer then never has that of an answer.
 */
export async function withOutput(
	run: () => number | Promise<number>,
	{ failureCode = 1, codeIsAnswer = false } = {},
): Promise<number> {
	const failures: Error[] = [];
	process.stdout.on("error", (error) => failures.push(error));
	process.stderr.on("error", () => {});
	const code = await run();
	// After all that was printed, whose failures are known by then.
	await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
	await new Promise<void>((resolve) => setImmediate(resolve));
	const [failure] = failures;
	if (failure === undefined) return code;
	if (systemErrorCode(failure) !== "EPIPE")
		process.stderr.write(`The output cannot be written to stdout: ${errorText(failure)}.\n`);
	return code === 0 || codeIsAnswer ? failureCode : code;
}

/**
 * Writes the line with which a server says that it serves; false, with the reason on stderr, when that cannot be done: whoever waits for
 * the line would wait for ever.
 */
export async function announce(text: string): Promise<boolean> {
	const failure = await new Promise<Error | null>((resolve) => {
		process.stdout.on("error", resolve);
		process.stdout.write(text, (error) => resolve(error ?? null));
	});
	if (failure === null) return true;
	writeNotice(
		`What is served, and where, cannot be written to stdout: ${errorText(failure)}. The program ends; start it with a stdout that can be written to.\n`,
	);
	return false;
}
