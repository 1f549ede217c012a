// Replaces the platform's `fetch` and library HTTP clients throughout the bundle (rolldown.config.ts): in those, a
// response can end the process, and proxies and limits are not supported.

/** Rejects like a request that cannot be made. */
export function refusedFetch(): Promise<never> {
	return Promise.reject(
		new TypeError("Request refused: it bypassed agentwire's network layer, which checks addresses and proxies."),
	);
}
