import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { cut, oneLine } from "../../base/text/sentence.ts";

export interface McpNetwork {
	readonly fetch: FetchLike;
	readonly clock: Clock;
}

/** Milliseconds for all requests of one step. */
const patience = 30_000;

/** A response that the library cannot read becomes an error with its address and status. */
export async function inTime<T>(
	{ fetch, clock }: McpNetwork,
	signal: AbortSignal,
	step: (fetch: FetchLike) => Promise<T>,
): Promise<T> {
	const end = new AbortController();
	const withdraw = clock.after(patience, () => end.abort(new Error(`no answer within ${patience / 1000} seconds`)));
	const either = AbortSignal.any([signal, end.signal]);
	let answered: string | null = null;
	try {
		return await step(async (given, init) => {
			const url = new URL(given);
			// Posted data is only for the authorization server.
			if (init?.method === "POST" && !isSecure(url)) {
				throw new Error(`${url.origin}${url.pathname} does not use https, which an authorization server must`);
			}
			const response = await fetch(given, { ...init, signal: either });
			answered = `${url.origin}${url.pathname} answered with HTTP ${response.status}`;
			return response;
		});
	} catch (thrown) {
		throw answered !== null && isUnreadable(thrown)
			? new Error(`${answered}, but not as an authorization server does${faultsOf(thrown)}`)
			: thrown;
	} finally {
		withdraw();
	}
}

/** Whether data sent to this address is protected in transit. */
export function isSecure({ protocol, hostname }: URL): boolean {
	return (
		protocol === "https:" ||
		(protocol === "http:" && /^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
	);
}

/** Whether the library's parser rejected the response as invalid or not JSON. */
function isUnreadable(thrown: unknown): thrown is Error {
	if (!(thrown instanceof Error)) return false;
	return thrown.name === "SyntaxError" || thrown.name === "ZodError" || thrown.message.includes(unreadableError);
}

const unreadableError = "Invalid OAuth error response: ";

/** The keys the parser rejects, in brackets: its report is JSON. */
function faultsOf({ message }: Error): string {
	const keys = [...message.matchAll(/"path": \[\s*"(\w+)"/g)].map(([, key]) => key);
	return keys.length === 0 ? "" : ` (missing or invalid: ${keys.slice(0, 3).join(", ")})`;
}

const lengthLimit = 300;

/** The failure on one line, without secrets, with the cause that failed requests hide. */
export function failureText(thrown: unknown): string {
	const text = fullText(thrown);
	return cut(text, lengthLimit);
}

function fullText(thrown: unknown): string {
	const text = oneLine(redactSecrets(errorText(thrown))).trim();
	const cause = thrown instanceof Error && thrown.cause !== undefined ? fullText(thrown.cause) : "";
	// Many messages already quote their cause.
	return text.includes(cause) ? text : `${text}: ${cause}`;
}
