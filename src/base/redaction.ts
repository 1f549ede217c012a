// Takes keys and tokens out of text before it is written anywhere.

const patterns: readonly RegExp[] = [
	/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp])[-_][A-Za-z0-9_-]{8,}/g,
	/\bAIza[A-Za-z0-9_-]{20,}/g,
	/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
	/(?<=\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
	// With the scheme before the credentials, which is a word of its own.
	/(?<=authorization\\?["']?\s*[:=]\s*\\?["']?)(?:[a-z]+\s+)?[^\s"'\\,;}]{4,}/gi,
	/(?<=(?:api[_-]?key|access_token|refresh_token|client_secret|password)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;}]{4,}/gi,
];

const secretName = /api[_-]?key|access[_-]?token|refresh[_-]?token|client[_-]?secret|password|authorization/i;

/** Whether a value under this name is a secret whatever it looks like. */
export function isSecretName(name: string): boolean {
	return secretName.test(name);
}

/** The text with everything that looks like a key or token replaced. */
export function redactSecrets(text: string): string {
	return patterns.reduce((result, pattern) => result.replace(pattern, "[redacted]"), text);
}
