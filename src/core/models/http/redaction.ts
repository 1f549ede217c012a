// Removes the secrets of a request, and whatever looks like one, from error texts.
import { redactSecrets } from "../../../base/redaction.ts";

const shortestSecret = 8;

/** Returns a function that replaces the given secrets, and what looks like a key, by `[redacted]`. */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
	// Values too short to be secrets ("1", "true") would only garble the text.
	const known = secrets.filter((secret) => secret.length >= shortestSecret).sort((a, b) => b.length - a.length);
	return (text) => redactSecrets(known.reduce((redacted, secret) => redacted.replaceAll(secret, "[redacted]"), text));
}
