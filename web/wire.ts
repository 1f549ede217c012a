// The page's side of the gateway: methods by POST, events by one stream that is read with `fetch`, so that the token travels in a
// header and never in an address.
import type { Cursor } from "../src/api/values/event.ts";
import { readServerSentEvents } from "../src/client/server-sent-events.ts";
import type { HistoryPage } from "../src/frontends/gateway/history.ts";
import type { MethodName, Params, Result } from "../src/frontends/gateway/protocol.ts";
import type { PublicEvent } from "../src/frontends/shared/public-event.ts";

/** The state of a session, with its events as this page knows them. */
export type Snapshot = Omit<Result<"session.snapshot">, "openInteractions" | "unfinished"> & {
	readonly openInteractions: readonly PublicEvent[];
	readonly unfinished: readonly UnfinishedEvent[];
};

/** What there is of a text or a call so far, as the event that it will become. */
export type UnfinishedEvent = Unplaced<PublicEvent>;
type Unplaced<Event> = Event extends unknown ? Omit<Event, "sessionId" | "turnId" | "at"> : never;

/** An event of one type, with its origin. */
export type EventOf<T extends PublicEvent["type"]> = Extract<PublicEvent, { type: T }>;

const storageKey = "agentwire.token";

/** Takes the token out of the address, where others could see it. */
export function takeToken(): string | null {
	const [, given] = /^#token=([\x21-\x7e]{1,256})$/.exec(location.hash) ?? [];
	if (given !== undefined) {
		sessionStorage.setItem(storageKey, given);
		history.replaceState(null, "", location.pathname);
	}
	return sessionStorage.getItem(storageKey);
}

export class WireError extends Error {
	readonly code: string;
	constructor(code: string, message: string) {
		super(message);
		this.code = code;
	}
}

const invalidToken = () => new WireError("token", "The token of this page is no longer valid.");

const headers = () => ({ authorization: `Bearer ${sessionStorage.getItem(storageKey) ?? ""}` });

/** Pages without HTTPS that come from another machine have no `randomUUID`. */
function randomId(bytes: number): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
		"",
	);
}

let nextId = 1;

/** The result of a method. The server and this page are of one build, so that what it answers has the declared shape. */
export async function call<N extends MethodName>(method: N, params: Params<N>): Promise<Result<N>> {
	const key = randomId(16);
	for (let attempt = 1; ; attempt += 1) {
		let response: Response;
		try {
			response = await fetch("/rpc", {
				method: "POST",
				headers: { ...headers(), "content-type": "application/json", "idempotency-key": key },
				body: JSON.stringify({ jsonrpc: "2.0", id: nextId++, method, params }),
			});
		} catch {
			// The same key is acted on once, however often it arrives.
			if (attempt >= 3)
				throw new WireError("offline", "The gateway does not answer. What you sent may not have arrived.");
			await new Promise((resolve) => setTimeout(resolve, 400 * attempt));
			continue;
		}
		const body = await response.json();
		if (response.status === 401) throw invalidToken();
		if (body.error !== undefined) {
			const { message = String(body.error), data = null } = body.error;
			throw new WireError(data?.code ?? String(body.error.code ?? response.status), message);
		}
		return body.result;
	}
}

export async function readHistory(sessionId: string, before: number | null, limit: number): Promise<HistoryPage> {
	const query = `limit=${limit}${before === null ? "" : `&before=${before}`}`;
	const response = await fetch(`/sessions/${encodeURIComponent(sessionId)}/history?${query}`, { headers: headers() });
	if (response.status === 401) throw invalidToken();
	const body = await response.json();
	if (!response.ok)
		throw new WireError(body.code ?? String(response.status), body.error ?? "The history cannot be read.");
	return body;
}

/** Gives what one stream sends, its data parsed. Rejects when it cannot be opened, breaks or ends. */
export async function readStream(
	sessionId: string,
	after: Cursor | null,
	signal: AbortSignal,
	take: (name: string, data: unknown) => void,
): Promise<void> {
	const cursor = after === null ? "" : `@${after.epoch}:${after.seq}`;
	const response = await fetch(
		`/events?sessions=${encodeURIComponent(sessionId)}${cursor}&client=${encodeURIComponent(windowName)}`,
		{ headers: headers(), signal },
	);
	if (response.status === 401) throw invalidToken();
	if (!response.ok) throw new WireError(String(response.status), "The stream was refused.");
	for await (const { name, data } of readServerSentEvents(response, signal)) take(name, JSON.parse(data));
}

const names = ["amber", "birch", "cedar", "dune", "elm", "fern", "gold", "heath", "iris", "jade", "kelp", "linden"];

function chooseName(): string {
	const stored = sessionStorage.getItem("agentwire.window");
	if (stored !== null) return stored;
	const word = names[Math.floor(Math.random() * names.length)] ?? "one";
	// Two windows may have the same word; which one it was must be certain all the same.
	const name = `${innerWidth < 700 ? "phone" : "window"} ${word} ${randomId(4)}`;
	sessionStorage.setItem("agentwire.window", name);
	return name;
}
/** By this the gateway and other windows know this one. */
export const windowName = chooseName();
