/** A lone surrogate becomes U+FFFD: providers refuse it, and would refuse the whole session from then on. */
export function toJsonBody(body: unknown): string {
	const text = JSON.stringify(body);
	// The serializer writes lone surrogates as escapes of this form; a quoted escape has a double backslash.
	return text.includes("\\ud") ? text.replace(escapes, (all, half) => (half === undefined ? all : "\\ufffd")) : text;
}

const escapes = /\\(?:(ud[89a-f][0-9a-f]{2})|[\s\S])/g;
