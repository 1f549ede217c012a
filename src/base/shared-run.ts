// Work that many want done at the same moment and that tells each of them what was so when they asked.

/** Runs the work for all who asked before it began; whoever asks while it runs gets the outcome of the next run. */
export function createSharedRun<T>(work: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | null = null;
	let next: Promise<T> | null = null;
	const start = (): Promise<T> => {
		next = null;
		const run = work();
		const finish = () => {
			if (running === run) running = null;
		};
		running = run;
		run.then(finish, finish);
		return run;
	};
	return () => {
		if (running === null) return start();
		next ??= running.then(start, start);
		return next;
	};
}
