// The stored sessions, a page at a time.

export interface ListQuery {
	/** Restricts the list to this work directory; absent for all. */
	readonly workDir?: string;
	/** The `next` of the previous page; absent for the first page. */
	readonly after?: string;
	/** Maximum sessions per page; absent for all. */
	readonly limit?: number;
	/** Includes established sessions without activity. */
	readonly withUnused?: boolean;
}

/** A stored session in a list. Times are milliseconds since the epoch. */
export interface SessionSummary {
	readonly id: string;
	readonly workDir: string;
	readonly title: string;
	/** Last write time of its logs. */
	readonly updatedAt: number;
	/** Null if not archived. */
	readonly archivedAt: number | null;
	/** Why no process can run it at present; absent if it can be run. */
	readonly notRunnable?: string;
}

/** Sessions with activity, most recently written first. */
export interface SessionPage {
	readonly sessions: readonly SessionSummary[];
	/** The start of the next page; null for the last page. */
	readonly next: string | null;
}

/** Which processes may run a session, if several machines share a store. */
export interface Placement {
	/** The owner: processes are shared fairly among owners. Empty for none. */
	readonly owner: string;
	/** Tags a process needs to run it, such as the file system with its work directory. */
	readonly needs: readonly string[];
}
