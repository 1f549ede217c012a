// The ids of kimi-code begin with "session_"; ours do not. Both are taken, so that a program can hand back what it read.

const prefix = "session_";

/** The id as programs for kimi-code know it. */
export function toPrefixedId(id: string): string {
	return id.startsWith(prefix) ? id : `${prefix}${id}`;
}

/** The id without the prefix; null when it has none. */
export function withoutPrefix(id: string): string | null {
	return id.startsWith(prefix) && id.length > prefix.length ? id.slice(prefix.length) : null;
}
