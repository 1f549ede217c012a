import { modelAdvice } from "../../api/values/model-advice.ts";
import { type KernelErrorCode, toKernelError } from "../../base/errors.ts";
import type { ErrorObject } from "../../ports/rpc/envelope.ts";

export const envelopeErrors = {
	parse: -32700,
	invalidRequest: -32600,
	unknownMethod: -32601,
	invalidParams: -32602,
	forbidden: -32003,
} as const;

export const errorNumbers: { readonly [C in KernelErrorCode]: number } = {
	internal: -32603,
	"invalid-input": -32602,
	busy: -32010,
	"no-turn": -32011,
	unsupported: -32012,
	"model-not-set": -32013,
	"capability-missing": -32014,
	"provider-failed": -32015,
	"login-expired": -32016,
	"budget-exhausted": -32017,
	"session-not-found": -32018,
	"storage-failed": -32019,
	overloaded: -32020,
	closed: -32021,
	"hook-failed": -32022,
};

export function toErrorObject(thrown: unknown): ErrorObject {
	const { code, message, data } = toKernelError(thrown);
	const advised = code === "model-not-set" && message === "LLM is not set" ? `${message}. ${modelAdvice}` : message;
	return { code: errorNumbers[code], message: advised, data: { code, details: data } };
}
