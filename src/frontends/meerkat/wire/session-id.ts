const plain = /^[0-9a-f]{32}$/;
const hyphenated = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id in lower case with hyphens; null when the text is not a UUID. */
export function toSessionId(text: string): string | null {
	const lower = text.toLowerCase();
	const bare = lower.startsWith("urn:uuid:") ? lower.slice("urn:uuid:".length) : lower.replace(/^\{(.*)\}$/, "$1");
	if (hyphenated.test(bare)) return bare;
	if (!plain.test(bare)) return null;
	return [bare.slice(0, 8), bare.slice(8, 12), bare.slice(12, 16), bare.slice(16, 20), bare.slice(20)].join("-");
}

export function toRunId(turnId: string): string {
	return toSessionId(turnId) ?? turnId;
}
