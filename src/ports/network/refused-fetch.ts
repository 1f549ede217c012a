// Replaces the platform's `fetch`, and HTTP clients of libraries, everywhere in the bundle (rolldown.config.ts): an
// answer can end the process through those, and they have no proxies and no limits.

/** Rejects like a request that cannot be made. */
export function refusedFetch(): Promise<never> {
	return Promise.reject(new TypeError("This request did not go through the network of agentwire, and is not made."));
}
