import type { ModelChunk, ModelFailure } from "./model.ts";

type Chunks = AsyncIterable<ModelChunk, void>;
type Read = IteratorResult<ModelChunk, void>;

/** Maps every chunk with `change`. A failure is the last chunk, even if `change` created it. */
export function changedChunks(stream: Chunks, change: (chunk: ModelChunk) => ModelChunk): Chunks {
	return stream instanceof ChunkStream ? stream.changed(change) : new ChunkStream(async () => stream, change);
}

/** A stream that opens on its first read. `open` must not reject. */
export function openedLater(open: () => Promise<Chunks>): Chunks {
	return new ChunkStream(open, (chunk) => chunk);
}

/** If the first chunk is a failure and `second` offers another stream, continues with that one. */
export function withSecondAttempt(first: Chunks, second: (failure: ModelFailure) => Chunks | null): Chunks {
	return openedLater(async () => {
		const source = first[Symbol.asyncIterator]();
		const read = await source.next();
		if (read.done === true) return chunksOf();
		const other = read.value.type === "failed" ? second(read.value.failure) : null;
		if (other === null) return resumed(read, source);
		await source.return?.();
		return other;
	});
}

/** The rest of a stream, starting with a chunk already read. */
function resumed(read: Read, source: AsyncIterator<ModelChunk, void>): Chunks {
	let waiting: Read | null = read;
	const chunks: AsyncIterableIterator<ModelChunk, void> = {
		[Symbol.asyncIterator]: () => chunks,
		next() {
			const first = waiting;
			waiting = null;
			return first === null ? source.next() : Promise.resolve(first);
		},
		return: async () => (await source.return?.()) ?? over,
	};
	return chunks;
}

export async function* chunksOf(...chunks: readonly ModelChunk[]): AsyncGenerator<ModelChunk, void> {
	yield* chunks;
}

const over = { done: true, value: undefined } as const;

class ChunkStream implements AsyncIterableIterator<ModelChunk, void> {
	readonly #open: () => Promise<Chunks>;
	readonly #change: (chunk: ModelChunk) => ModelChunk;
	#source: AsyncIterator<ModelChunk, void> | null = null;
	#isOver = false;

	constructor(open: () => Promise<Chunks>, change: (chunk: ModelChunk) => ModelChunk) {
		this.#open = open;
		this.#change = change;
	}

	/** Replaces this unread stream. */
	changed(change: (chunk: ModelChunk) => ModelChunk): ChunkStream {
		return new ChunkStream(this.#open, (chunk) => change(this.#change(chunk)));
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	async next(): Promise<Read> {
		if (this.#isOver) return over;
		if (this.#source === null) {
			const source = (await this.#open())[Symbol.asyncIterator]();
			if (this.#isOver) {
				await source.return?.();
				return over;
			}
			this.#source = source;
		}
		const read = await this.#source.next();
		if (read.done === true) {
			this.#isOver = true;
			return over;
		}
		let value: ModelChunk;
		try {
			value = this.#change(read.value);
		} catch (thrown) {
			await this.return();
			throw thrown;
		}
		if (value.type === "failed") await this.return();
		return { done: false, value };
	}

	async return(): Promise<Read> {
		this.#isOver = true;
		await this.#source?.return?.();
		return over;
	}
}
