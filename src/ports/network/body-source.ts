// Reads the body of an answer. Those of our own requests are read where they arrive: a web stream takes several promises for each
// piece, which is most of what thousands of small pieces in a second cost.

export interface BodySource {
	/** What has arrived, all at once; null at the end of the body, undefined while nothing is there. Throws the body's error. */
	take(): Uint8Array | null | undefined;
	/** Resolves when there may be something to take; never fails. */
	arrival(): Promise<void>;
}

const ownSources = new WeakMap<ReadableStream<Uint8Array>, BodySource>();

/** Whoever reads this stream may read from its source instead. The source must not reference the stream. */
export function registerSource(stream: ReadableStream<Uint8Array>, source: BodySource): void {
	ownSources.set(stream, source);
}

/** Call it once for a stream, which nobody reads otherwise. */
export function openSource(stream: ReadableStream<Uint8Array>): BodySource {
	const own = ownSources.get(stream);
	if (own === undefined) return readThrough(stream);
	return {
		take: () => own.take(),
		arrival: () => own.arrival(),
		// A stream that nothing references any more gives up its connection.
		...{ stream },
	};
}

function readThrough(stream: ReadableStream<Uint8Array>): BodySource {
	const reader = stream.getReader();
	let read: Awaited<ReturnType<typeof reader.read>> | null = null;
	let failure: { readonly error: unknown } | null = null;
	return {
		take() {
			if (failure !== null) throw failure.error;
			if (read?.done === true) return null;
			const piece = read?.value;
			read = null;
			return piece;
		},
		async arrival() {
			try {
				read ??= await reader.read();
			} catch (error) {
				failure = { error };
			}
		},
	};
}
