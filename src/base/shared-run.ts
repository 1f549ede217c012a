// Shares one run of some work among concurrent callers, without giving any caller a result older than its call.

/** Runs the work for all callers who called before it began; a call during the run gets the outcome of the next run. */
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
