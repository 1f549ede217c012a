/** Rate and account limits, whose texts share words with overflow errors. */
const rates =
	/per (?:minute|min|second|hour|day|month)\b|\b(?:tpm|rpm|tpd|rpd)\b|rate[ _-]?limit|quota|throttl|too many requests/i;

const window = String.raw`\b(?:context[ _-]?(?:length|window|size|limit)|n_ctx|kv cache|max_(?:seq|model|input|total|context|prompt)_(?:len|length|tokens?))\b`;
const excess =
	"exceed|greater than|longer than|larger than|more than|less than|too (?:long|large|big|small|many)|beyond|overflow|only|maximum|reached|limit|<=|(?:is|window) full";

const phrases: readonly RegExp[] = [
	// "the request exceeds the available context size", "must be less than max_seq_len", "maximum context length is".
	new RegExp(`(?:${excess}).{0,80}${window}`, "i"),
	new RegExp(`${window}.{0,80}(?:${excess})`, "i"),
	/maximum (?:prompt|model) length/i,
	/exceed(?:s|ed)? (?:the )?(?:model token limit|maximum number of tokens|max(?:imum)? (?:message|input|prompt) tokens)/i,
	/\b(?:prompt|input|message|request|conversation|token length|prompt tokens)s? (?:is|are|was|were)? ?too long\b/i,
	/\b(?:input|prompt|inputs)\b(?: token(?:s|_ids)?)?(?: length| size| tokens?)?.{0,30} exceeds? (?:the |its |a )?(?:\w+ )?(?:limit|max)/i,
	/input token count is [\d,]+ but model only supports/i,
	// Gemini, for a body with too many bytes, usually from images, which a summary does not contain.
	/request payload size exceeds/i,
	/request body too large for .{1,80} model/i,
	/prompt token count of [\d,]+ exceeds/i,
	/prompt exceeds max(?:imum)? length/i,
	/range of input length should be/i,
	// Text Generation Inference.
	/`?inputs`? tokens? \+ `?max_new_tokens`? must be/i,
	/`inputs` must have less than [\d,]+ tokens/i,
	// Cohere.
	/too many tokens: (?:total|size)/i,
	/number of tokens in the prompt cannot exceed/i,
	/prompt contains [\d,]+ tokens.{0,80}too large/i,
	/(?:reduce|shorten) the length of (?:the|your) (?:messages|prompt|input)/i,
	/(?:输入|上下文|提示词?|对话|prompt|token).{0,20}(?:过长|超长|超过|超出|超限)/i,
];

const codes =
	/context_(?:length|window|size)_?(?:exceeded|limit)|exceed_context_size|prompt_too_long|input_too_long|prompt_tokens_exceeded|tokens_limit_reached|InputLengthExceeded|ContextWindowExceeded/i;

export function reportsRate(message: string): boolean {
	return rates.test(message);
}

/** Whether an error is about the request length; `marks` are its codes and types. */
export function reportsOverflow(message: string, marks: readonly string[] = []): boolean {
	if (marks.some((mark) => codes.test(mark))) return true;
	return !reportsRate(message) && phrases.some((phrase) => phrase.test(message));
}
