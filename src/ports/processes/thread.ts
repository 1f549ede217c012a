import { Worker } from "node:worker_threads";
import { createDeferred } from "../../base/deferred.ts";
import { runsOnBun } from "../../base/program-form.ts";

export interface ThreadLimits {
	/** Milliseconds. */
	readonly time: number;
	readonly memory: number;
}

export type ThreadOutcome =
	| { readonly kind: "done"; readonly value: unknown }
	| { readonly kind: "timed-out" }
	| { readonly kind: "out-of-memory" }
	| { readonly kind: "aborted" }
	| { readonly kind: "failed"; readonly error: Error };

/** Runs a file in a thread. `data` is copied; `done` is its first message. Resolves once it ended; never rejects. */
export async function runThread(
	file: string,
	data: unknown,
	{ time, memory }: ThreadLimits,
	signal: AbortSignal,
): Promise<ThreadOutcome> {
	if (signal.aborted) return { kind: "aborted" };
	const worker = new Worker(file, {
		workerData: data,
		env: {},
		argv: [],
		// Library output must not reach the client.
		stdout: true,
		stderr: true,
		resourceLimits: { maxOldGenerationSizeMb: memory },
	});
	const { promise, resolve } = createDeferred<ThreadOutcome>();
	const unwatch = runsOnBun ? watchGrowth(memory, () => resolve({ kind: "out-of-memory" })) : () => {};
	const timer = setTimeout(() => resolve({ kind: "timed-out" }), time);
	const abort = () => resolve({ kind: "aborted" });
	signal.addEventListener("abort", abort, { once: true });
	worker.once("message", (value: unknown) => resolve({ kind: "done", value }));
	worker.once("error", (error: Error & { readonly code?: unknown }) =>
		resolve(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? { kind: "out-of-memory" } : { kind: "failed", error }),
	);
	worker.once("exit", (code) => resolve({ kind: "failed", error: new Error(`The thread ended with code ${code}.`) }));
	const outcome = await promise;
	clearTimeout(timer);
	unwatch();
	signal.removeEventListener("abort", abort);
	await worker.terminate();
	return outcome;
}

/** Milliseconds between two memory checks. */
const watchInterval = 20;

/** Maximum resident memory per megabyte of thread heap. */
const residentFactor = 2;

/** Bun has no thread memory limit, so this watches the process. Returns a function that stops watching. */
export function watchGrowth(
	limit: number,
	exceeded: () => void,
	residentBytes: () => number = process.memoryUsage.rss,
): () => void {
	const before = residentBytes();
	const timer = setInterval(() => {
		if (residentBytes() - before > limit * residentFactor * 1_000_000) exceeded();
	}, watchInterval);
	return () => clearInterval(timer);
}
