// A queue that runs writes one at a time until one fails; later ones are dropped.

export interface WriteQueue {
	/** Runs the work after all earlier work; after a failure nothing is run any more. Never rejects. */
	run(work: () => Promise<void>): Promise<void>;
	readonly hasFailed: boolean;
}

/** `onFailure` is called once, with what was thrown. */
export function createWriteQueue(onFailure: (thrown: unknown) => void): WriteQueue {
	let hasFailed = false;
	let last: Promise<void> = Promise.resolve();
	const attempt = async (work: () => Promise<void>): Promise<void> => {
		if (hasFailed) return;
		try {
			await work();
		} catch (thrown) {
			hasFailed = true;
			onFailure(thrown);
		}
	};
	return {
		run(work) {
			last = last.then(() => attempt(work));
			return last;
		},
		get hasFailed() {
			return hasFailed;
		},
	};
}
