// Meerkat RPC errors by name, with the numbers of both eras, some of which changed meaning. `error.data.code` always has the name.

import { readHookError } from "../../api/values/hooks/session-hook.ts";
import { type KernelErrorCode, toKernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { ErrorObject } from "../../ports/rpc/envelope.ts";

/** Decides a connection's shapes and error numbers. */
export type Era = "seed" | "contract";

export const errorNumbers = {
	PARSE_ERROR: { seed: -32700, contract: -32700 },
	INVALID_REQUEST: { seed: -32600, contract: -32600 },
	METHOD_NOT_FOUND: { seed: -32601, contract: -32601 },
	INVALID_PARAMS: { seed: -32602, contract: -32602 },
	INPUT_IDEMPOTENCY_CONFLICT: { seed: -32602, contract: -32602 },
	INTERNAL_ERROR: { seed: -32603, contract: -32603 },
	SESSION_NOT_FOUND: { seed: -32000, contract: -32001 },
	SESSION_BUSY: { seed: -32001, contract: -32002 },
	SESSION_NOT_RUNNING: { seed: -32603, contract: -32003 },
	PROVIDER_ERROR: { seed: -32002, contract: -32010 },
	BUDGET_EXHAUSTED: { seed: -32003, contract: -32011 },
	HOOK_DENIED: { seed: -32004, contract: -32012 },
	REQUEST_CANCELLED: { seed: -32603, contract: -32005 },
	CAPABILITY_UNAVAILABLE: { seed: -32002, contract: -32020 },
	SKILL_NOT_FOUND: { seed: -32602, contract: -32021 },
	OVERLOADED: { seed: -32603, contract: -32011 },
} as const satisfies Readonly<Record<string, Readonly<Record<Era, number>>>>;

export type ErrorName = keyof typeof errorNumbers;

export const kernelErrorNames: { readonly [C in KernelErrorCode]: ErrorName } = {
	busy: "SESSION_BUSY",
	"no-turn": "SESSION_NOT_RUNNING",
	unsupported: "CAPABILITY_UNAVAILABLE",
	"invalid-input": "INVALID_PARAMS",
	"model-not-set": "PROVIDER_ERROR",
	"capability-missing": "CAPABILITY_UNAVAILABLE",
	"provider-failed": "PROVIDER_ERROR",
	"login-expired": "PROVIDER_ERROR",
	"session-not-found": "SESSION_NOT_FOUND",
	"budget-exhausted": "BUDGET_EXHAUSTED",
	"hook-failed": "INTERNAL_ERROR",
	"storage-failed": "INTERNAL_ERROR",
	overloaded: "OVERLOADED",
	closed: "REQUEST_CANCELLED",
	internal: "INTERNAL_ERROR",
};

export class NamedError extends Error {
	override readonly name = "NamedError";
	readonly code: ErrorName;
	readonly details: Readonly<Record<string, unknown>>;

	constructor(code: ErrorName, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.code = code;
		this.details = details;
	}
}

const sessionTexts: { readonly [C in KernelErrorCode]?: (sessionId: string) => string } = {
	busy: (id) => `Session ${id} is busy`,
	"session-not-found": (id) => `Session not found: ${id}`,
};

export function toNamedError(thrown: unknown, sessionId: string | null): NamedError {
	const concerned = sessionId === null ? {} : { session_id: sessionId };
	if (thrown instanceof NamedError)
		return new NamedError(thrown.code, thrown.message, { ...concerned, ...thrown.details }, thrown.cause);
	const { code, message, data } = toKernelError(thrown);
	const text = sessionId === null ? message : (sessionTexts[code]?.(sessionId) ?? message);
	return new NamedError(
		kernelErrorNames[code],
		text,
		{ ...concerned, ...(isRecord(data) ? inOurWords(data) : {}) },
		thrown,
	);
}

/** Budgets get their event names; hooks only what identifies them. */
function inOurWords(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
	const hook = readHookError(data);
	if (hook !== null) return { hook_id: hook.hook_id, point: hook.point };
	return data["budget"] === "tool-calls" ? { ...data, budget: "tool_calls" } : data;
}

export function errorObject(era: Era, code: ErrorName, message: string, details: object = {}): ErrorObject {
	return { code: errorNumbers[code][era], message, data: { ...details, code } };
}

export function toErrorObject(era: Era, thrown: unknown): ErrorObject {
	const { code, message, details } = toNamedError(thrown, null);
	return errorObject(era, code, message, details);
}
