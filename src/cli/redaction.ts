// Takes keys and tokens out of text before it is written anywhere.

const patterns: readonly RegExp[] = [
	/\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp])[-_][A-Za-z0-9_-]{8,}/g,
	/\bAIza[A-Za-z0-9_-]{20,}/g,
	/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
	/(?<=\b[Bb]earer\s+)[A-Za-z0-9._~+/=-]{8,}/g,
	/(?<=(?:api[_-]?key|access_token|refresh_token|client_secret|password|authorization)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;}]{4,}/gi,
];

/** The text with everything that looks like a key or token replaced. */
export function redactSecrets(text: string): string {
	return patterns.reduce((result, pattern) => result.replace(pattern, "[redacted]"), text);
}
