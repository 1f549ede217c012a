// Items that come in batches, and bounds of what is remembered.

/** The items one by one: for readers that stop early, or to whom a batch means nothing. */
export async function* eachOf<Item>(batches: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
	for await (const batch of batches) yield* batch;
}

/** Forgets the entries of a map or a set that were added first, until there are no more than so many. */
export function forgetOldest<Key>(
	known: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean },
	most: number,
): void {
	for (const oldest of known.keys()) {
		if (known.size <= most) return;
		known.delete(oldest);
	}
}
