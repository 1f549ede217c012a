// Serializes request bodies as JSON that every provider can parse.

/**
 * Serializes a body. A lone surrogate, left by a truncated text or the model's own escape, becomes U+FFFD: providers refuse it as
 * invalid JSON, and would refuse all later requests of the session with the same history.
 */
export function toJsonBody(body: unknown): string {
	const text = JSON.stringify(body);
	// The serializer writes lone surrogates as escapes of this form; a quoted escape has a double backslash.
	return text.includes("\\ud") ? text.replace(escapes, (all, half) => (half === undefined ? all : "\\ufffd")) : text;
}

const escapes = /\\(?:(ud[89a-f][0-9a-f]{2})|[\s\S])/g;
