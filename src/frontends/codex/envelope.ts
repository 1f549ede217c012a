import { KernelError, type KernelErrorCode, toKernelError } from "../../base/errors.ts";
import type { EnvelopeRules, ParamsProblem, RpcId } from "../../ports/rpc/envelope.ts";

export const errorNumbers = {
	parseError: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	overloaded: -32001,
} as const;

const numbers: { readonly [C in KernelErrorCode]: number } = {
	busy: errorNumbers.invalidRequest,
	"no-turn": errorNumbers.invalidRequest,
	unsupported: errorNumbers.invalidRequest,
	"invalid-input": errorNumbers.invalidRequest,
	"model-not-set": errorNumbers.invalidRequest,
	"capability-missing": errorNumbers.invalidRequest,
	"session-not-found": errorNumbers.invalidRequest,
	"login-expired": errorNumbers.invalidRequest,
	"provider-failed": errorNumbers.internal,
	"budget-exhausted": errorNumbers.internal,
	"hook-failed": errorNumbers.internal,
	"storage-failed": errorNumbers.internal,
	overloaded: errorNumbers.overloaded,
	closed: errorNumbers.internal,
	internal: errorNumbers.internal,
};

function toErrorObject(thrown: unknown) {
	const { code, message } = toKernelError(thrown);
	return { code: numbers[code], message };
}

export const codexRules: EnvelopeRules = {
	isId: (value): value is RpcId => typeof value === "string" || Number.isSafeInteger(value),
	versionOptional: true,
	versionUnsent: true,
	unknownKeysRefused: false,
	// Settings of MCP servers contain keys.
	linesAreSecret: true,
	blankLinesIgnored: true,
	errorDataAlways: false,
	parseError: { code: errorNumbers.parseError, message: "The line is not JSON, or is too long." },
	invalidRequest: { code: errorNumbers.invalidRequest, message: "The line is neither a request nor an answer." },
	invalidResponse: null,
	unknownMethod: (method) => ({
		code: errorNumbers.methodNotFound,
		message: `${method} is not served here. To see what is, run \`agentwire docs reference/protocol/codex\`.`,
	}),
	invalidParams: (method, problem) => ({
		code: errorNumbers.invalidParams,
		message: `Invalid params of ${method}: ${describeProblem(problem)}`,
	}),
	tooManyRequests: (limit) =>
		toErrorObject(new KernelError("overloaded", `More than ${limit} requests are unanswered. Retry later.`)),
	toErrorObject,
};

function describeProblem(problem: ParamsProblem): string {
	return problem.kind === "missing" ? "there are none" : problem.reason;
}
