import { errorText, systemErrorCode } from "../base/errors.ts";
import { exitSoon } from "./process/process-exit.ts";
import { writeNotice } from "./process/standard-error.ts";
import { handleStopSignals, stopSignals } from "./process/stop-signals.ts";

/** Flushes the output; returns the exit code. A signal gives the shell's code; a write error the failure code. */
export async function withOutput(
	run: () => number | Promise<number>,
	{ failureCode = 1, codeIsAnswer = false } = {},
): Promise<number> {
	handleStopSignals((signal) => void exitSoon(stopSignals[signal]));
	const failures: Error[] = [];
	process.stdout.on("error", (error) => failures.push(error));
	process.stderr.on("error", () => {});
	const code = await run();
	// Bun calls back for an empty write before pending ones finish, and a failed stream never emits its end.
	if (failures.length === 0) {
		await new Promise<void>((resolve) => {
			process.stdout.once("error", () => resolve());
			process.stdout.end(() => resolve());
		});
	}
	await new Promise<void>((resolve) => setImmediate(resolve));
	const [failure] = failures;
	if (failure === undefined) return code;
	if (systemErrorCode(failure) !== "EPIPE") process.stderr.write(`Cannot write to stdout: ${errorText(failure)}.\n`);
	return code === 0 || codeIsAnswer ? failureCode : code;
}

/** Announces a running server. On failure returns false, because the waiting program would hang. */
export async function announce(text: string): Promise<boolean> {
	const failure = await new Promise<Error | null>((resolve) => {
		process.stdout.on("error", resolve);
		process.stdout.write(text, (error) => resolve(error ?? null));
	});
	if (failure === null) return true;
	writeNotice(
		`Cannot write the server's address to stdout: ${errorText(failure)}. Start the program again with a writable stdout.\n`,
	);
	return false;
}
