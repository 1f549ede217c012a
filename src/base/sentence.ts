// Texts for people, put together from sentences.

/** The parts that are not empty, in one line, each ended by a mark. */
export function sentences(...parts: readonly string[]): string {
	return parts
		.filter((part) => part !== "")
		.map((part) => (/[.!?:]$/.test(part) ? part : `${part}.`))
		.join(" ");
}
