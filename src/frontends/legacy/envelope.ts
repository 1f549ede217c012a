import { type EnvelopeRules, withoutData } from "../../ports/rpc/envelope.ts";
import { toErrorObject } from "../shared/error-numbers.ts";
import { errorNumbers } from "./errors.ts";

export const envelopeRules: EnvelopeRules = {
	isId: (value) => typeof value === "string",
	versionOptional: false,
	unknownKeysRefused: true,
	blankLinesIgnored: true,
	errorDataAlways: false,
	parseError: null,
	invalidRequest: null,
	invalidResponse: null,
	unknownMethod: (method) => ({ code: -32601, message: `Unknown method: ${method}` }),
	invalidParams: () => ({ code: -32602, message: "`input` (or `prompt`) must be a string" }),
	tooManyRequests: (limit) => ({
		code: -32000,
		message: `Too many requests at once: at most ${limit} are handled at a time; wait for answers before sending more.`,
	}),
	toErrorObject: (thrown) => withoutData(toErrorObject(errorNumbers, thrown)),
};
