import type { EnvelopeRules } from "../../ports/rpc/envelope.ts";
import { toErrorObject } from "../shared/error-numbers.ts";
import { errorNumbers } from "./errors.ts";

export const envelopeRules: EnvelopeRules = {
	isId: (value) => typeof value === "string",
	versionOptional: true,
	unknownKeysRefused: false,
	blankLinesIgnored: false,
	errorDataAlways: true,
	parseError: { code: -32700, message: "Invalid JSON format" },
	invalidRequest: { code: -32600, message: "Invalid request" },
	invalidResponse: { code: -32600, message: "Invalid response" },
	unknownMethod: (method) => ({ code: -32601, message: `Unexpected method received: ${method}` }),
	invalidParams: (method) => ({ code: -32602, message: `Invalid parameters for method \`${method}\`` }),
	tooManyRequests: (limit) => ({
		code: -32000,
		message: `Too many requests at once: at most ${limit} are handled at a time; wait for answers before sending more.`,
	}),
	toErrorObject: (thrown) => toErrorObject(errorNumbers, thrown),
};
