// The requests of a sign-in or a renewal of tokens: their deadline, and the text of their failures.
import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { redactSecrets } from "../base/redaction.ts";
import { oneLine } from "../base/sentence.ts";

/** The network and the clock for the deadline. */
export interface McpNetwork {
	readonly fetch: FetchLike;
	readonly clock: Clock;
}

/** Milliseconds for all requests of one step. */
const patience = 30_000;

/** Runs a step with a fetch that is aborted at the deadline, or by the signal. */
export async function inTime<T>(
	{ fetch, clock }: McpNetwork,
	signal: AbortSignal,
	step: (fetch: FetchLike) => Promise<T>,
): Promise<T> {
	const end = new AbortController();
	const withdraw = clock.after(patience, () => end.abort(new Error(`no answer within ${patience / 1000} seconds`)));
	const either = AbortSignal.any([signal, end.signal]);
	try {
		return await step((url, init) => fetch(url, { ...init, signal: either }));
	} finally {
		withdraw();
	}
}

const lengthLimit = 300;

/** A failure on one line, without secrets, with the cause that failed requests hide. */
export function failureText(thrown: unknown): string {
	const text = fullText(thrown);
	return text.length > lengthLimit ? `${text.slice(0, lengthLimit)}…` : text;
}

function fullText(thrown: unknown): string {
	const text = oneLine(redactSecrets(errorText(thrown))).trim();
	const cause = thrown instanceof Error && thrown.cause !== undefined ? fullText(thrown.cause) : "";
	// Many a text quotes its cause.
	return text.includes(cause) ? text : `${text}: ${cause}`;
}
