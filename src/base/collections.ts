// Items that come in batches, one by one: for readers that stop early, or to whom a batch means nothing.

export async function* eachOf<Item>(batches: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
	for await (const batch of batches) yield* batch;
}
