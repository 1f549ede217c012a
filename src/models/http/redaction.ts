// Keeps keys and tokens out of error texts.

const shortestSecret = 8;
const keyShapes = /\b(Bearer\s+|sk-)[A-Za-z0-9._~+/=-]{8,}/g;

/** Returns a function that replaces the given secrets, and what looks like a key, by `***`. */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
	// Values too short to be secrets ("1", "true") would only garble the text.
	const known = secrets.filter((secret) => secret.length >= shortestSecret).sort((a, b) => b.length - a.length);
	return (text) =>
		known.reduce((redacted, secret) => redacted.replaceAll(secret, "***"), text).replace(keyShapes, "$1***");
}
