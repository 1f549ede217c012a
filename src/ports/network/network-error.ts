import { fetchFailureCause, fetchFailureText, systemErrorCode } from "../../base/errors.ts";

/** Unusable settings, a refusing proxy, a forbidden address, or a response over the limit. */
export type NetworkErrorKind = "configuration" | "proxy" | "address" | "size";

/** A request that this client ended. Errors of `fetch` and of a response body have it as their cause. */
export class NetworkError extends Error {
	override readonly name = "NetworkError";
	readonly kind: NetworkErrorKind;

	constructor(kind: NetworkErrorKind, message: string) {
		super(message);
		this.kind = kind;
	}
}

export interface NetworkFailure {
	readonly kind: NetworkErrorKind | "timeout" | "connection";
	readonly message: string;
}

/** The code for a connection timeout: nothing can have been sent. */
export const connectTimeoutCode = "CONNECT_TIMEOUT";

const timeoutCodes: ReadonlySet<string> = new Set(["ETIMEDOUT", connectTimeoutCode]);

const untrustedCodes: ReadonlySet<string> = new Set([
	"CERT_UNTRUSTED",
	"DEPTH_ZERO_SELF_SIGNED_CERT",
	"SELF_SIGNED_CERT_IN_CHAIN",
	"UNABLE_TO_GET_ISSUER_CERT",
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** The cause of a rejected `fetch`, or of an interrupted body. */
export function toNetworkFailure(thrown: unknown): NetworkFailure {
	const cause = fetchFailureCause(thrown);
	if (cause instanceof NetworkError) return { kind: cause.kind, message: cause.message };
	const code = systemErrorCode(cause);
	const message = fetchFailureText(thrown);
	if (code !== null && timeoutCodes.has(code)) return { kind: "timeout", message };
	if (code === null || !untrustedCodes.has(code)) return { kind: "connection", message };
	return {
		kind: "connection",
		message: `${message}. If you trust this server, name the file of its certificate authority in agentwire.ca_file.`,
	};
}

export function connectTimeout(host: string, milliseconds: number): Error {
	const error = new Error(`no connection to ${host} within ${milliseconds / 1000} s`);
	return Object.assign(error, { code: connectTimeoutCode });
}

export function silenceTimeout(milliseconds: number): Error {
	return Object.assign(new Error(`nothing came for ${milliseconds / 1000} s`), { code: "ETIMEDOUT" });
}
