// Runs a command that prints: being stopped is no success of it, and its output is written before it ends.
import { errorText, systemErrorCode } from "../base/errors.ts";
import { exitSoon } from "./process/process-exit.ts";
import { writeNotice } from "./process/standard-error.ts";
import { handleStopSignals, stopSignals } from "./process/stop-signals.ts";

/**
 * Runs a command that prints, and waits for its output to be written; returns the exit code. A signal ends it with the code that shells
 * use for that, unless the command handles signals itself: 0 would say that it did what it was asked for. If the output cannot be
 * written that is the code of a failure, with a message on stderr unless the reader has just gone; a command whose code is its
 * answer then never has that of an answer.
 */
export async function withOutput(
	run: () => number | Promise<number>,
	{ failureCode = 1, codeIsAnswer = false } = {},
): Promise<number> {
	handleStopSignals((signal) => void exitSoon(stopSignals[signal]));
	const failures: Error[] = [];
	process.stdout.on("error", (error) => failures.push(error));
	process.stderr.on("error", () => {});
	const code = await run();
	// After all that was printed, whose failures are known by then. Bun calls back for an empty write at once, whatever waits before it;
	// and a stream that has failed never says that it has ended.
	if (failures.length === 0) {
		await new Promise<void>((resolve) => {
			process.stdout.once("error", () => resolve());
			process.stdout.end(() => resolve());
		});
	}
	await new Promise<void>((resolve) => setImmediate(resolve));
	const [failure] = failures;
	if (failure === undefined) return code;
	if (systemErrorCode(failure) !== "EPIPE")
		process.stderr.write(`The output cannot be written to stdout: ${errorText(failure)}.\n`);
	return code === 0 || codeIsAnswer ? failureCode : code;
}

/**
 * Prints the line that announces a running server; returns false, with the reason on
 * stderr, if the line cannot be written, because the program waiting for it would hang.
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
