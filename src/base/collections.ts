/** The items one by one, for readers that stop early or ignore batches. */
export async function* eachOf<Item>(batches: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
	for await (const batch of batches) yield* batch;
}

/** Removes the oldest entries of a map or set until the limit holds. */
export function forgetOldest<Key>(
	known: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean },
	most: number,
): void {
	for (const oldest of known.keys()) {
		if (known.size <= most) return;
		known.delete(oldest);
	}
}
