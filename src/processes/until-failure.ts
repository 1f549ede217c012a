// Writes in line until one fails: what follows is left, and the output of a child is given up for good.

export interface UntilFailure {
	/** Runs the work once all before it is over; nothing is run any more once some has failed. Never rejects. */
	run(work: () => Promise<void>): Promise<void>;
	readonly hasFailed: boolean;
}

/** `onFailure` is called once, with what was thrown. */
export function createUntilFailure(onFailure: (thrown: unknown) => void): UntilFailure {
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
