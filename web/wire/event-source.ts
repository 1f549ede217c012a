// The stream of a session's events, over `fetch`: `EventSource` cannot send a token. It connects again by itself, from the
// last event that came.

import type { InferOutput } from "valibot";
import type { Cursor } from "../../src/events/event.ts";
import type { GatewayEvent, snapshotSchema } from "../../src/gateway/protocol.ts";

export type Snapshot = InferOutput<typeof snapshotSchema>;

/** What the stream says; the messages of the gateway, and the state of the connection. */
export type StreamMessage =
	| { readonly kind: "state"; readonly clientId: string; readonly snapshot: Snapshot }
	| { readonly kind: "event"; readonly event: GatewayEvent }
	| { readonly kind: "reset" }
	| { readonly kind: "failed"; readonly text: string }
	| { readonly kind: "closed" }
	| { readonly kind: "connection"; readonly isOpen: boolean };

/** Milliseconds without a sign of life after which the connection is given up: two heartbeats and a little. */
const silence = 35_000;
const longestWait = 5_000;

export interface StreamOptions {
	readonly sessionId: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly clientName: string;
	readonly observes: boolean;
	/** The last event that is known. */
	cursor(): Cursor | null;
	take(message: StreamMessage): void;
}

/** Reads until it is stopped. */
export function followEvents(options: StreamOptions): () => void {
	const stopping = new AbortController();
	void follow(options, stopping.signal);
	return () => stopping.abort();
}

async function follow(options: StreamOptions, stopped: AbortSignal): Promise<void> {
	for (let failures = 0; !stopped.aborted; failures += 1) {
		try {
			await readOnce(options, stopped, () => {
				failures = 0;
			});
		} catch {
			// Connecting again is all there is to do.
		}
		if (stopped.aborted) return;
		options.take({ kind: "connection", isOpen: false });
		await pause(Math.min(longestWait, 250 * 2 ** failures), stopped);
	}
}

async function readOnce(options: StreamOptions, stopped: AbortSignal, opened: () => void): Promise<void> {
	const ending = new AbortController();
	const stop = () => ending.abort();
	stopped.addEventListener("abort", stop);
	let watchdog = setTimeout(stop, silence);
	try {
		const response = await fetch(toPath(options), {
			headers: options.headers,
			signal: ending.signal,
			cache: "no-store",
		});
		if (!response.ok || response.body === null) {
			const body: unknown = await response.json().catch(() => null);
			const text = typeof body === "object" && body !== null && "error" in body ? String(body.error) : "";
			if (response.status === 401) options.take({ kind: "failed", text: text || "The token is refused." });
			throw new Error(text);
		}
		options.take({ kind: "connection", isOpen: true });
		const parser = new MessageParser((name, data) => {
			if (name === "state") opened();
			takeMessage(name, data, options);
		});
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			clearTimeout(watchdog);
			watchdog = setTimeout(stop, silence);
			parser.add(value);
		}
	} finally {
		clearTimeout(watchdog);
		stopped.removeEventListener("abort", stop);
		ending.abort();
	}
}

function toPath({ sessionId, clientName, observes, cursor }: StreamOptions): string {
	const last = cursor();
	const place = last === null ? "" : `@${last.epoch}:${last.seq}`;
	const sessions = `${encodeURIComponent(sessionId)}${place}`;
	const role = observes ? "observe" : "control";
	return `/events?sessions=${sessions}&client=${encodeURIComponent(clientName)}&role=${role}`;
}

function takeMessage(name: string, text: string, { take }: StreamOptions): void {
	const data = JSON.parse(text);
	switch (name) {
		case "state":
			return take({ kind: "state", clientId: data.clientId, snapshot: data.snapshot });
		case "e":
		case "v":
			return take({ kind: "event", event: data });
		case "reset":
			return take({ kind: "reset" });
		case "failed":
			return take({ kind: "failed", text: String(data.error?.message ?? "The session cannot be shown.") });
		case "closed":
			return take({ kind: "closed" });
	}
}

/** Server-sent events: lines of `event:` and `data:`, and an empty line after each message. */
export class MessageParser {
	readonly #take: (name: string, data: string) => void;
	#rest = "";
	#name = "";
	#data: string[] = [];

	constructor(take: (name: string, data: string) => void) {
		this.#take = take;
	}

	add(text: string): void {
		const lines = (this.#rest + text).split("\n");
		this.#rest = lines.pop() ?? "";
		for (const line of lines) this.#addLine(line);
	}

	#addLine(line: string): void {
		if (line === "") {
			if (this.#data.length > 0) this.#take(this.#name, this.#data.join("\n"));
			this.#name = "";
			this.#data = [];
		} else if (line.startsWith("event:")) this.#name = line.slice(6).trim();
		else if (line.startsWith("data:")) this.#data.push(line.slice(5).replace(/^ /, ""));
	}
}

function pause(milliseconds: number, stopped: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const settle = () => {
			clearTimeout(timer);
			stopped.removeEventListener("abort", settle);
			removeEventListener("online", settle);
			resolve();
		};
		const timer = setTimeout(settle, milliseconds);
		stopped.addEventListener("abort", settle);
		addEventListener("online", settle);
	});
}
