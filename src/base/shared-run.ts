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

interface KeyedRun<T> {
	/** That of the last caller: they all do the same, and what an earlier one held is not held any longer. */
	work: () => Promise<T>;
	readonly run: () => Promise<T>;
	waiting: number;
}

/** The same for work of many kinds, each under a key. Nothing is held of what nobody waits for. */
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
