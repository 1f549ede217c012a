export interface KeyedQueue {
	/** Runs the work once all earlier work of this key has ended, successfully or not. */
	run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedQueue(): KeyedQueue {
	const tails = new Map<string, Promise<unknown>>();
	return {
		async run(key, work) {
			const turn = (tails.get(key) ?? Promise.resolve()).then(work, work);
			tails.set(key, turn);
			try {
				return await turn;
			} finally {
				if (tails.get(key) === turn) tails.delete(key);
			}
		},
	};
}
