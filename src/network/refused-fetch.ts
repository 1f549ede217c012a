// Stands in the bundle wherever code of ours or of a library names the platform's `fetch`, or another client of its own
// (rolldown.config.ts): an answer can end the process through those, and they know no proxy and no bounds.

/** Rejects, as a request does that cannot be made. */
export function refusedFetch(): Promise<never> {
	return Promise.reject(new TypeError("This request did not go through the network of agentwire, and is not made."));
}
