// The body of a request as JSON that every provider can parse.

/**
 * Serializes a body. Half a surrogate pair, which a cut text or a model's own escape leaves, becomes U+FFFD: providers refuse
 * a request that has one as invalid JSON, and would refuse every later one of the session, whose history has it as well.
 */
export function toJsonBody(body: unknown): string {
	const text = JSON.stringify(body);
	// The serializer writes halves as escapes of this form; a text that quotes such an escape has its backslash doubled.
	return text.includes("\\ud") ? text.replace(escapes, (all, half) => (half === undefined ? all : "\\ufffd")) : text;
}

const escapes = /\\(?:(ud[89a-f][0-9a-f]{2})|[\s\S])/g;
