// Recognises the errors of a request that is too long for the model by their text, because providers have no common
// code.

const phrases: readonly RegExp[] = [
	/maximum (?:context|prompt|model) length/i,
	/exceed(?:s|ed)? (?:the )?(?:model token limit|context limit|available context size|maximum number of tokens)/i,
	/token length too long/i,
	/\b(?:prompt|input) is too long\b/i,
	/\bcontext (?:length|window|size)\b/i,
	// Vertex AI.
	/input token count is [\d,]+ but model only supports/i,
	// Gemini, for a body of more bytes than it takes: most are those of images, which a summary does not have.
	/request payload size exceeds/i,
	// vLLM.
	/exceeds the max_model_len/i,
	// GitHub Copilot.
	/prompt token count of [\d,]+ exceeds/i,
	// Z.ai.
	/prompt exceeds max(?:imum)? length/i,
	// DashScope.
	/range of input length should be/i,
];

/** Whether an error's text is about the length of the request; for errors about the request in general. */
export function reportsOverflow(message: string): boolean {
	return phrases.some((phrase) => phrase.test(message));
}
