// What ends when something was thrown that nobody caught: no more than what it belonged to.

/** What is ended by a fault in its work. */
export interface FaultOwner {
	/** Ends what runs of it with this error; a fault of ours, not of whoever asked for it. */
	fail(thrown: unknown): void;
}

/** Nothing is known to end. */
export const nobody: FaultOwner = { fail: () => {} };
