// Texts for people: put together from sentences, or taken from others.

/** The parts that are not empty, in one line, each ended by a mark. */
export function sentences(...parts: readonly string[]): string {
	return parts
		.filter((part) => part !== "")
		.map((part) => (/[.!?:]$/.test(part) ? part : `${part}.`))
		.join(" ");
}

/** Text of others' on a line of its own, without what a terminal would act on. */
export function oneLine(text: string): string {
	return text.replace(/\s+/g, " ").replace(/\p{Cc}/gu, "\ufffd");
}
