import { errorText, systemErrorCode } from "../../base/errors.ts";
import { NetworkError } from "./network-error.ts";

/** The format of OpenSSL (Node) and BoringSSL (one-file program) errors: an address, a number, the function, and a reason. */
const libraryText = /^(?:[0-9a-f]+:)?error:[0-9a-f]+:SSL routines:[^:]*:([^:\s][^:]*)/i;

const noTls = "the server does not speak TLS on this port; check the port, or use an http URL";
const noVersion = "the server supports no TLS version that agentwire supports (1.2 or newer)";
const noClientCertificate = "the server requires a client certificate, which agentwire cannot send";

/** Keyed by the reasons of both libraries, in lower case, with spaces. */
const tlsReasons: ReadonlyMap<string, string> = new Map([
	["wrong version number", noTls],
	["http request", noTls],
	["packet length too long", noTls],
	["unsupported protocol", noVersion],
	["tlsv1 alert protocol version", noVersion],
	["tlsv13 alert certificate required", noClientCertificate],
	["tlsv1 alert certificate required", noClientCertificate],
]);

/** Node's messages for connections that end early, which describe its expectation instead of the event. */
const endings: ReadonlyMap<string, string> = new Map([
	// This client has not aborted anything.
	["aborted", "the connection ended before the answer was complete"],
	["socket hang up", "the connection was closed before there was an answer"],
	[
		"Client network socket disconnected before secure TLS connection was established",
		"the connection was closed before TLS was set up",
	],
]);
const parserText = /^Parse Error: (.*)$/;

/** Returns the same error, or, for a TLS error or an invalid response, one with its code and a readable message. */
export function readableFailure(error: Error): Error {
	const code = systemErrorCode(error);
	const ending = code === "ECONNRESET" ? endings.get(error.message) : undefined;
	if (ending !== undefined) return withText(error, ending);
	const flaw = parserText.exec(error.message)?.[1];
	if (flaw !== undefined) {
		const isLong = code === "HPE_HEADER_OVERFLOW";
		const text = isLong ? "the headers of the answer have more than 16 KiB" : `the answer is not valid HTTP: ${flaw}`;
		return withText(error, text);
	}
	const written = libraryText.exec(error.message)?.[1];
	if (written === undefined) return error;
	const reason = written.trim().replaceAll("_", " ").toLowerCase();
	return withText(error, tlsReasons.get(reason) ?? `TLS failed: ${reason}`);
}

/** The error for a name without an address. The one-file program's resolver does not say which name. */
export function failureToResolve(thrown: unknown, name: string): unknown {
	const text = errorText(thrown);
	return text.includes(name) ? thrown : withText(thrown, `${text} ${name}`);
}

/** The error of a proxied connection: the proxy may be at fault, so the message names it. */
export function failureThroughProxy(thrown: unknown, variable: string): unknown {
	if (thrown instanceof NetworkError) return thrown;
	const text = errorText(thrown instanceof Error ? readableFailure(thrown) : thrown);
	return withText(thrown, `${text || "no reason given"} (through the proxy of ${variable})`);
}

function withText(thrown: unknown, text: string): Error {
	const code = systemErrorCode(thrown);
	return Object.assign(new Error(text), code === null ? {} : { code });
}
