// The token of the page: it comes in the fragment of the address, which browsers send nowhere, and stays in this tab.

const key = "agentwire-token";

/** Null when there is none yet. The fragment is cleared at once, so that the token is in no history. */
export function takeToken(): string | null {
	const given = new URLSearchParams(location.hash.slice(1)).get("token");
	if (given !== null) {
		sessionStorage.setItem(key, given);
		history.replaceState(null, "", location.pathname + location.search);
	}
	return sessionStorage.getItem(key);
}

export function storeToken(token: string): void {
	sessionStorage.setItem(key, token);
}

export function forgetToken(): void {
	sessionStorage.removeItem(key);
}
