// Plays the rounds of a campaign in child processes, as many at once as there is work for the processors.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";

export interface Batch {
	readonly from: number;
	/** Not included. */
	readonly to: number;
}

export interface Batches {
	/** The module that a child runs, with the seed, the first round and the one after the last as arguments; it prints one line of JSON. */
	readonly child: string;
	readonly seed: number;
	readonly rounds: number;
	readonly size: number;
	/** Milliseconds that a child may take. */
	readonly patience: number;
}

/** Gives what each child printed, or how it ended instead, as they end. */
export async function playBatches(
	{ child, seed, rounds, size, patience }: Batches,
	take: (batch: Batch, output: string, failure: string | null) => void,
): Promise<void> {
	let next = 0;
	const work = async (): Promise<void> => {
		while (next < rounds) {
			const batch = { from: next, to: Math.min(rounds, next + size) };
			next = batch.to;
			const { output, failure } = await runChild(child, [seed, batch.from, batch.to].map(String), patience);
			take(batch, output, failure);
		}
	};
	await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
}

async function runChild(file: string, words: readonly string[], patience: number) {
	const { NODE_OPTIONS: _options, ...env } = process.env;
	const child = spawn(process.execPath, ["--import", "tsx", file, ...words], {
		stdio: ["ignore", "pipe", "pipe"],
		env,
	});
	const timer = setTimeout(() => child.kill("SIGKILL"), patience);
	const ended = new Promise<string>((resolve) => child.on("close", (code, signal) => resolve(signal ?? String(code))));
	const [output, errors, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
	clearTimeout(timer);
	return { output, failure: end === "0" ? null : `the process ended with ${end}: ${errors.slice(-2000)}` };
}
