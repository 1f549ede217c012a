// Words for errors of connections whose own texts do not help a person.
import { errorText, systemErrorCode } from "../../base/errors.ts";
import { NetworkError } from "./network-error.ts";

/** What OpenSSL (Node) and BoringSSL (the one file) report: an address, a number, the function, and at last a reason. */
const libraryText = /^(?:[0-9a-f]+:)?error:[0-9a-f]+:SSL routines:[^:]*:([^:\s][^:]*)/i;

const noTls =
	"the server does not speak TLS at this port; if it is meant to, check its port, else its URL begins with http";
const noVersion = "the server and this program have no version of TLS in common; 1.2 and newer can be used";
const noClientCertificate = "the server wants a certificate of the client, and agentwire cannot send one";

/** By the reasons of both libraries, in lower case, with spaces. */
const tlsReasons: ReadonlyMap<string, string> = new Map([
	["wrong version number", noTls],
	["http request", noTls],
	["packet length too long", noTls],
	["unsupported protocol", noVersion],
	["tlsv1 alert protocol version", noVersion],
	["tlsv13 alert certificate required", noClientCertificate],
	["tlsv1 alert certificate required", noClientCertificate],
]);

/** The texts of Node for connections that end too early, which say what it had in mind and not what happened. */
const endings: ReadonlyMap<string, string> = new Map([
	// Nobody here has aborted anything.
	["aborted", "the connection ended before the answer was complete"],
	["socket hang up", "the connection was closed before there was an answer"],
	[
		"Client network socket disconnected before secure TLS connection was established",
		"the connection was closed before TLS was set up",
	],
]);
/** The texts of its parser of HTTP. */
const parserText = /^Parse Error: (.*)$/;

/** The same error; for one of the TLS library, or of a bad answer, an error with its code and a text for people. */
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

/** The error of a name that has no address. The resolver of the one file does not say which name it was. */
export function failureToResolve(thrown: unknown, name: string): unknown {
	const text = errorText(thrown);
	return text.includes(name) ? thrown : withText(thrown, `${text} ${name}`);
}

/** The error of a connection that was to lead through a proxy: it may be the proxy's fault, so the text names it. */
export function failureThroughProxy(thrown: unknown, variable: string): unknown {
	if (thrown instanceof NetworkError) return thrown;
	const text = errorText(thrown instanceof Error ? readableFailure(thrown) : thrown);
	return withText(thrown, `${text || "no reason given"} (through the proxy of ${variable})`);
}

function withText(thrown: unknown, text: string): Error {
	const code = systemErrorCode(thrown);
	return Object.assign(new Error(text), code === null ? {} : { code });
}
