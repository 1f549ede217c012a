// How providers say that a request is too long for the model: in words, for lack of anything better.

const phrases: readonly RegExp[] = [
	/maximum context length/i,
	/exceed(?:s|ed)? (?:the )?(?:model token limit|context limit|available context size|maximum number of tokens)/i,
	/token length too long/i,
	/prompt is too long/i,
	/\bcontext (?:length|window|size)\b/i,
];

/** Whether an error's text is about the length of the request; for errors that are about the request at all. */
export function reportsOverflow(message: string): boolean {
	return phrases.some((phrase) => phrase.test(message));
}
