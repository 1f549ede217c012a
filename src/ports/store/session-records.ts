// The store that an embedding program implements: records of sessions, kept wherever it likes.

/** A session in a list. Times are milliseconds since the epoch. */
export interface ListedSession {
	readonly id: string;
	readonly workDir: string;
	readonly title: string;
	readonly updatedAt: number;
	/** Null if not archived. */
	readonly archivedAt: number | null;
	/** Created, but never prompted. */
	readonly isUnused: boolean;
}

/**
 * Stores sessions in a place of your own: each is a list of records, texts of JSON, that only grows. An open session is in memory;
 * opening it reads all its records.
 */
export interface SessionRecords {
	/**
	 * Appends records to a session that has `length` of them. Stores all or, when it rejects, none. Reject another `length`:
	 * a second process has written the session. The turn then fails, and the next prompt reads the session again.
	 */
	append(session: ListedSession, records: readonly string[], length: number): Promise<void>;
	/** The records of a session in order; none for an unknown id. */
	read(id: string): AsyncIterable<string> | Iterable<string> | Promise<Iterable<string>>;
	/** Every session, as `append` was last given it, in any order. */
	list(): Promise<readonly ListedSession[]>;
	/** Removes a session and its records. Idempotent. */
	delete(id: string): Promise<void>;
}
