// Shares a run among concurrent callers without returning a result older than the call.

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

interface KeyedRun<T> {
	/** The latest caller's work: all are equivalent, and earlier closures can be freed. */
	work: () => Promise<T>;
	readonly run: () => Promise<T>;
	waiting: number;
}

/** The same for work by key. Keeps nothing without waiting callers. */
export function createSharedRuns<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
	const runs = new Map<string, KeyedRun<T>>();
	return async (key, work) => {
		let keyed = runs.get(key);
		if (keyed === undefined) {
			const made: KeyedRun<T> = { work, run: createSharedRun(() => made.work()), waiting: 0 };
			runs.set(key, made);
			keyed = made;
		}
		keyed.work = work;
		keyed.waiting += 1;
		try {
			return await keyed.run();
		} finally {
			keyed.waiting -= 1;
			if (keyed.waiting === 0) runs.delete(key);
		}
	};
}
