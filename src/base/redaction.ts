// Removes keys and tokens from text before it is written anywhere.

// Each pattern takes linear time: no lookbehinds, and matches begin only at the start of a run.
const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
	[/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp])[-_][A-Za-z0-9_-]{8,}/g, "[redacted]"],
	[/\bAIza[A-Za-z0-9_-]{20,}/g, "[redacted]"],
	[/\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi, "$1[redacted]"],
	// Includes the scheme before the credentials, a separate word. Sentences about a missing key are exempt.
	[/(authorization\\?["']?\s*[:=]\s*\\?["']?)(?!must |is required)(?:[a-z]+\s+)?[^\s"'\\,;}]{4,}/gi, "$1[redacted]"],
	[
		/((?:api[_-]?key|access_token|refresh_token|client_secret|password)\\?["']?\s*[:=]\s*\\?["']?)(?!must )[^\s"'\\,;}]{4,}/gi,
		"$1[redacted]",
	],
];

const dottedRun = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/g;
const webToken = /\beyJ[A-Za-z0-9_-]{8,}\..*/;

const secretName = /api[_-]?key|access[_-]?token|refresh[_-]?token|client[_-]?secret|password|authorization/i;

export function isSecretName(name: string): boolean {
	return secretName.test(name);
}

export function redactSecrets(text: string): string {
	const withoutTokens = text.replace(dottedRun, (run) => run.replace(webToken, "[redacted]"));
	return patterns.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), withoutTokens);
}
