// The only error class that crosses the kernel API. Dialects choose the wire numbers; the texts are for users.

/** Error kinds that a caller can distinguish. Every dialect maps each code to a number. */
export const kernelErrorCodes = [
	"busy",
	"no-turn",
	"unsupported",
	"invalid-input",
	"model-not-set",
	"capability-missing",
	"provider-failed",
	"login-expired",
	"budget-exhausted",
	"hook-failed",
	"session-not-found",
	"storage-failed",
	"overloaded",
	"closed",
	"internal",
] as const;

export type KernelErrorCode = (typeof kernelErrorCodes)[number];

/** An error a client may see. `data` is JSON for the client, `cause` is for the log only. */
export class KernelError extends Error {
	override readonly name = "KernelError";
	readonly code: KernelErrorCode;
	readonly data: unknown;

	constructor(code: KernelErrorCode, message: string, options: { data?: unknown; cause?: unknown } = {}) {
		super(message, options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.data = options.data ?? null;
	}
}

export function toKernelError(thrown: unknown): KernelError {
	if (isError(thrown) && thrown instanceof KernelError) return thrown;
	return new KernelError("internal", "Internal error; the log has the details.", { cause: thrown });
}

/** Whether a thrown value is an error. A proxy may throw when inspected. */
export function isError(thrown: unknown): thrown is Error {
	try {
		return thrown instanceof Error;
	} catch {
		return false;
	}
}

/** The text of a thrown value, for logs and tool results. Never fails, even if the value runs code. */
export function errorText(thrown: unknown): string {
	try {
		return String(thrown instanceof Error ? thrown.message : thrown);
	} catch {
		return "an error without a readable text";
	}
}

/** The error text of `fetch` or its response body: `fetch` only says "fetch failed"; its cause has the reason. */
export function fetchFailureText(thrown: unknown): string {
	const cause = fetchFailureCause(thrown);
	return errorText(cause) || systemErrorCode(cause) || "no reason given";
}

/** The cause that `fetch` hides in its error. */
export function fetchFailureCause(thrown: unknown): unknown {
	return isError(thrown) && thrown.cause !== undefined ? thrown.cause : thrown;
}

/** Whether the operating system refused something, as opposed to a bug. */
export function isSystemError(thrown: unknown): thrown is Error {
	return /^E[A-Z0-9]+$/.test(systemErrorCode(thrown) ?? "");
}

export function systemErrorCode(thrown: unknown): string | null {
	if (!isError(thrown)) return null;
	try {
		return "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
	} catch {
		return null;
	}
}
