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
	"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
	"The decoder prompt (length 40000) is longer than the maximum model length of 32768.",
	"The engine prompt length 40000 exceeds the max_model_len 32768. Please reduce prompt.",
	"prompt token count of 139000 exceeds the limit of 128000",
	"Prompt exceeds max length",
	"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
])("an error is about the length of the request: %s", (message) => expect(reportsOverflow(message)).toBe(true));

it.each([
	"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64.",
	"messages.1.content.0: text content blocks must be non-empty",
	"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
	"Range of max_tokens should be [1, 8192]",
	"Rate limit reached: too many tokens per minute",
])("an error is about something else: %s", (message) => expect(reportsOverflow(message)).toBe(false));
