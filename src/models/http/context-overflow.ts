// Recognises the errors of a request that is too long for the model by their text, because providers have no common
// code.

const phrases: readonly RegExp[] = [
	/maximum context length/i,
	/exceed(?:s|ed)? (?:the )?(?:model token limit|context limit|available context size|maximum number of tokens)/i,
	/token length too long/i,
	/prompt is too long/i,
	/\bcontext (?:length|window|size)\b/i,
];

/** Whether an error's text is about the length of the request; for errors about the request in general. */
export function reportsOverflow(message: string): boolean {
	return phrases.some((phrase) => phrase.test(message));
}
