// Replaces the platform's `fetch`, and HTTP clients of libraries, everywhere in the bundle (rolldown.config.ts): with those a
// response can end the process, and they support neither proxies nor limits.

/** Rejects like a request that cannot be made. */
export function refusedFetch(): Promise<never> {
	return Promise.reject(new TypeError("This request did not go through the network of agentwire, and is not made."));
}
