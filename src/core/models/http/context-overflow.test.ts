import { expect, it } from "vitest";
import { reportsOverflow } from "./context-overflow.ts";

it.each([
	"This model's maximum context length is 400000 tokens; the messages came to 412345.",
	"Your input exceeds the context window of this model. Please adjust your input and try again.",
	"prompt is too long: 208310 tokens > 200000 maximum",
	"input length and `max_tokens` exceed context limit: 195000 + 20000 > 200000",
	"Input is too long for requested model.",
	"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
	"Unable to submit request because the input token count is 1100000 but model only supports up to 1048576.",
	"Request payload size exceeds the limit: 20971520 bytes.",
	"Your request exceeded model token limit: 262144 (requested: 269030)",
	"Input token length too long",
	"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
	"The decoder prompt (length 40000) is longer than the maximum model length of 32768.",
	"The engine prompt length 40000 exceeds the max_model_len 32768. Please reduce prompt.",
	"prompt token count of 139000 exceeds the limit of 128000",
	"Prompt exceeds max length",
	"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
	// llama.cpp.
	"the request exceeds the available context size, try increasing it",
	"request (20000 tokens) exceeds the available context size (16384 tokens), try increasing it",
	"Context size has been exceeded.",
	"The context is full and context shift is disabled: context limit reached",
	// LM Studio.
	"The number of tokens to keep from the initial prompt is greater than the context length.",
	"Trying to keep the first 9000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens",
	// TabbyAPI, SiliconFlow, SGLang, TensorRT-LLM.
	"Context length 40000 is greater than max_seq_len 32768",
	"length of prompt_tokens (40000) must be less than max_seq_len (32768).",
	"The input (33000 tokens) is longer than the model's context length (32768 tokens).",
	"Requested token count exceeds the model's maximum context length of 32768 tokens.",
	"Prompt length (5000) exceeds maximum input length (4096).",
	// Text Generation Inference.
	"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
	"Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
	// Cohere.
	"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.",
	"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
	// Volcengine.
	"Total tokens of image and text exceed max message tokens",
	"Input length 140000 exceeds the maximum length 131072",
	"Input token length exceeds the limit.",
	// Ollama.
	"prompt too long; exceeded max context length by 100 tokens",
	"the input length exceeds the context length",
	// Mistral, Groq, MiniMax, Azure.
	"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
	"Please reduce the length of the messages or completion.",
	"invalid params, context window exceeds limit (2013)",
	"Request body too large for gpt-4o model. Max size: 8000 tokens.",
	"Prompt 超长",
	"输入内容长度超过模型上下文限制",
])("an error is about the length of the request: %s", (message) => expect(reportsOverflow(message)).toBe(true));

it.each([
	"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64.",
	"messages.1.content.0: text content blocks must be non-empty",
	"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
	"max_tokens is too large: 32768. This model supports at most 16384 completion tokens.",
	"Range of max_tokens should be [1, 8192]",
	"Rate limit reached: too many tokens per minute",
	"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced.",
	"Number of request tokens has exceeded your per-minute rate limit",
	"This request would exceed your account's rate limit of 40,000 input tokens per minute.",
	"You exceeded your current quota, please check your plan and billing details.",
	"Organization reached max RPM, try again after 1 seconds",
	"The engine is currently overloaded",
	"Internal server error",
	"context deadline exceeded",
	"Request timed out: context canceled",
	"Invalid image: the image exceeds 5 MB maximum",
	"too many images in the request: limit is 20",
])("an error is about something else: %s", (message) => expect(reportsOverflow(message)).toBe(false));

it("a code says it whatever the text", () => {
	expect(reportsOverflow("no", ["context_length_exceeded"])).toBe(true);
	expect(reportsOverflow("no", ["exceed_context_size_error"])).toBe(true);
	expect(reportsOverflow("no", ["rate_limit_exceeded", "tokens"])).toBe(false);
});
