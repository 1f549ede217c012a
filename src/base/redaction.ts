// Takes keys and tokens out of text before it is written anywhere.

// Each takes linear time whatever the text: what may stand before a secret is matched with it instead of being looked
// for behind every character, and a run of characters is begun at its start only.
const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
	[/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp])[-_][A-Za-z0-9_-]{8,}/g, "[redacted]"],
	[/\bAIza[A-Za-z0-9_-]{20,}/g, "[redacted]"],
	[/\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi, "$1[redacted]"],
	// With the scheme before the credentials, which is a word of its own. A sentence about a key is none.
	[/(authorization\\?["']?\s*[:=]\s*\\?["']?)(?!must |is required)(?:[a-z]+\s+)?[^\s"'\\,;}]{4,}/gi, "$1[redacted]"],
	[
		/((?:api[_-]?key|access_token|refresh_token|client_secret|password)\\?["']?\s*[:=]\s*\\?["']?)(?!must )[^\s"'\\,;}]{4,}/gi,
		"$1[redacted]",
	],
];

/** What a JSON web token may be part of: runs of its characters joined by dots. */
const dottedRun = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/g;
const webToken = /\beyJ[A-Za-z0-9_-]{8,}\..*/;

const secretName = /api[_-]?key|access[_-]?token|refresh[_-]?token|client[_-]?secret|password|authorization/i;

/** Whether a value under this name is a secret whatever it looks like. */
export function isSecretName(name: string): boolean {
	return secretName.test(name);
}

/** The text with everything that looks like a key or token replaced. */
export function redactSecrets(text: string): string {
	const withoutTokens = text.replace(dottedRun, (run) => run.replace(webToken, "[redacted]"));
	return patterns.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), withoutTokens);
}
