// Replaces `fetch` in the bundle: there a response can end the process, and proxies and limits are missing.

/** Rejects like a request that cannot be made. */
export function refusedFetch(): Promise<never> {
	return Promise.reject(
		new TypeError("Request refused: it bypassed agentwire's network layer, which checks addresses and proxies."),
	);
}
