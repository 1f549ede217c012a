import { cut } from "../../base/text/sentence.ts";
import type { EnvelopeRules, RpcId } from "../../ports/rpc/envelope.ts";
import { errorNumbers, errorObject, toErrorObject } from "./errors.ts";

export const acpRules: EnvelopeRules = {
	isId,
	exactIds: true,
	refusalsNameId: true,
	nullIdRefused: true,
	versionOptional: false,
	unknownKeysRefused: false,
	blankLinesIgnored: true,
	errorDataAlways: false,
	// MCP server variables may contain keys.
	linesAreSecret: true,
	parseError: errorObject(errorNumbers.parseError, "Parse error: the line is not JSON"),
	invalidRequest: errorObject(
		errorNumbers.invalidRequest,
		'Invalid request: an object with "jsonrpc":"2.0", a method and an id that is a string or an integer is needed',
	),
	invalidResponse: null,
	unknownMethod: (method) => errorObject(errorNumbers.methodNotFound, `Method not found: ${cut(method, 200)}`),
	invalidParams: (method, problem) =>
		errorObject(
			errorNumbers.invalidParams,
			`Invalid params of ${method}: ${problem.kind === "missing" ? "they are missing" : problem.reason}`,
		),
	tooManyRequests: (limit) =>
		errorObject(
			errorNumbers.internal,
			`Too many requests at once: at most ${limit} are handled at a time; wait for answers before sending more.`,
		),
	toErrorObject,
};

function isId(value: unknown): value is RpcId {
	return typeof value === "string" || typeof value === "bigint" || Number.isInteger(value);
}
