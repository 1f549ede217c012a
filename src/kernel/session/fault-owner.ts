// What to end after an uncaught exception: no more than the work that threw it.

/** Something that an uncaught exception in its work ends. */
export interface FaultOwner {
	/** Ends its running work with this error, reported as a bug of ours rather than an error of the client. */
	fail(thrown: unknown): void;
}

/** No owner is known. */
export const nobody: FaultOwner = { fail: () => {} };
