// Work that is done many times.

/** Does the work so many times, `atOnce` of them in parallel, begun in order, and gives the results in order. */
export async function inParallel<T>(count: number, atOnce: number, work: (n: number) => Promise<T>): Promise<T[]> {
	const results: T[] = [];
	let next = 0;
	const worker = async (): Promise<void> => {
		while (next < count) {
			const n = next;
			next += 1;
			results[n] = await work(n);
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
	return results;
}
