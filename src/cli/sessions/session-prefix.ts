// kimi-code session ids begin with "session_"; ours do not. Both forms are accepted, so that programs can pass back ids they
// read.

const prefix = "session_";

/** The id in kimi-code form. */
export function toPrefixedId(id: string): string {
	return id.startsWith(prefix) ? id : `${prefix}${id}`;
}

/** The id without the prefix; null if it has none. */
export function withoutPrefix(id: string): string | null {
	return id.startsWith(prefix) && id.length > prefix.length ? id.slice(prefix.length) : null;
}
