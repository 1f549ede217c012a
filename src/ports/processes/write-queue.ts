export interface WriteQueue {
	/** Runs the work after all earlier work, unless one failed. Never rejects. */
	run(work: () => Promise<void>): Promise<void>;
	readonly hasFailed: boolean;
}

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
