/** What a relay needs of its runtime. A hundred may run at once, and the streams of Node take two megabytes of each in Bun. */
export interface RelayPipes {
	/** Null if nothing listens. */
	connect(file: string): Promise<RelaySocket | null>;
	/** Bytes from stdin up to its end or failure. */
	input(): AsyncIterable<Uint8Array>;
	/** Resolves when more may follow; rejects if nobody reads stdout any more. */
	output(bytes: Uint8Array): Promise<void>;
}

export interface RelaySocket {
	/** Up to the end of the connection, for whatever reason; to be read once. */
	readonly received: AsyncIterator<Uint8Array, void>;
	/** Resolves when more may follow, also after the end of the connection. */
	write(bytes: Uint8Array): Promise<void>;
	/** Nothing is written any more; reading goes on. */
	end(): void;
	destroy(): void;
}
