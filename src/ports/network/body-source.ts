// A web stream takes several promises per piece, so bodies of our own requests are read at their source.

export interface BodySource {
	/** All data received so far; null at the end of the body, undefined if nothing is available. Throws the body's error. */
	take(): Uint8Array | null | undefined;
	/** Resolves when data may be available; never fails. */
	arrival(): Promise<void>;
}

const ownSources = new WeakMap<ReadableStream<Uint8Array>, BodySource>();

/** Lets the stream's reader read from its source instead. The source must not reference the stream. */
export function registerSource(stream: ReadableStream<Uint8Array>, source: BodySource): void {
	ownSources.set(stream, source);
}

/** Call it once per stream, which must have no other reader. */
export function openSource(stream: ReadableStream<Uint8Array>): BodySource {
	const own = ownSources.get(stream);
	if (own === undefined) return readThrough(stream);
	return {
		take: () => own.take(),
		arrival: () => own.arrival(),
		// A garbage-collected stream releases its connection.
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
