// Text without halves of surrogate pairs, which cuts and escapes leave. No strict parser of JSON accepts them.

/** The text with U+FFFD for every half of a pair that is without the other. */
export function toWellFormed(text: string): string {
	return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
