// kimi-code ids begin with "session_"; both forms are accepted.

const prefix = "session_";

export function toPrefixedId(id: string): string {
	return id.startsWith(prefix) ? id : `${prefix}${id}`;
}

export function withoutPrefix(id: string): string | null {
	return id.startsWith(prefix) && id.length > prefix.length ? id.slice(prefix.length) : null;
}
