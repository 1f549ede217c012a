import { modelAdvice } from "../../api/values/model-advice.ts";
import type { KernelErrorCode } from "../../base/errors.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import { beginning } from "../../base/text/well-formed.ts";
import type { ErrorObject } from "../../ports/rpc/envelope.ts";

export const errorNumbers = {
	parseError: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	authRequired: -32000,
	notFound: -32002,
	cancelled: -32800,
} as const;

export const unsupportedVersion = -32022;

const numbers: { readonly [C in KernelErrorCode]: number } = {
	busy: errorNumbers.invalidRequest,
	"no-turn": errorNumbers.invalidRequest,
	unsupported: errorNumbers.invalidRequest,
	"invalid-input": errorNumbers.invalidParams,
	"model-not-set": errorNumbers.authRequired,
	"capability-missing": errorNumbers.invalidParams,
	"provider-failed": errorNumbers.internal,
	"login-expired": errorNumbers.authRequired,
	"session-not-found": errorNumbers.notFound,
	"budget-exhausted": errorNumbers.internal,
	"hook-failed": errorNumbers.internal,
	"storage-failed": errorNumbers.internal,
	overloaded: errorNumbers.internal,
	closed: errorNumbers.internal,
	internal: errorNumbers.internal,
};

export class RequestCancelledError extends Error {
	override readonly name = "RequestCancelledError";

	constructor() {
		super("The request was cancelled.");
	}
}

export class VersionError extends Error {
	override readonly name = "VersionError";
	readonly requested: number;
	readonly supported: readonly number[];

	constructor(requested: number, supported: readonly number[]) {
		super(`Protocol version ${requested} is not supported; supported: ${supported.join(", ")}.`);
		this.requested = requested;
		this.supported = supported;
	}
}

export function errorObject(code: number, message: string, details: string = message): ErrorObject {
	return { code, message, data: { details } };
}

export function toErrorObject(thrown: unknown): ErrorObject {
	if (thrown instanceof RequestCancelledError) return errorObject(errorNumbers.cancelled, thrown.message);
	if (thrown instanceof VersionError) {
		const { message, requested, supported } = thrown;
		return { code: unsupportedVersion, message, data: { requested, supported } };
	}
	const { code, message } = toKernelError(thrown);
	return errorObject(numbers[code], message);
}

export function quoted(given: string): string {
	const text = JSON.stringify(beginning(given, 200));
	return given.length > 200 ? `${text}…` : text;
}

/** The session may be deleted or belong to another program, so the text points to the list. */
export function unknownSession(id: string): KernelError {
	const text = `There is no session ${quoted(id)}. session/list lists the sessions; session/new creates one.`;
	return new KernelError("session-not-found", text);
}

export function withAdvice(thrown: unknown): unknown {
	const error = toKernelError(thrown);
	if (error.code !== "model-not-set" && error.code !== "login-expired") return thrown;
	const advice = error.code === "model-not-set" ? modelAdvice : "Sign in with `agentwire login` in a terminal.";
	return new KernelError(error.code, `${error.message.replace(/\.?$/, ".")} ${advice}`, { cause: thrown });
}
