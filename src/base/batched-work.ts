// Batches requests for the same work: requests during a run are handled together by the next run.
import { createDeferred, type Deferred } from "./deferred.ts";

/** Runs `work` with all items added since its last run began. An item's promise settles with its run. */
export function createBatchedWork<Item>(
	work: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
	let waiting: { readonly item: Item; readonly done: Deferred<void> }[] = [];
	let isRunning = false;

	const runAll = async (): Promise<void> => {
		isRunning = true;
		while (waiting.length > 0) {
			const batch = waiting;
			waiting = [];
			try {
				await work(batch.map(({ item }) => item));
				for (const { done } of batch) done.resolve();
			} catch (thrown) {
				for (const { done } of batch) done.reject(thrown);
			}
		}
		isRunning = false;
	};

	return (item) => {
		const done = createDeferred<void>();
		waiting.push({ item, done });
		if (!isRunning) void runAll();
		return done.promise;
	};
}
