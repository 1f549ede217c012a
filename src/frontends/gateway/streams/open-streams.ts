import type { IncomingMessage, ServerResponse } from "node:http";
import type { Scope } from "../../../api/operations.ts";
import type { TokenWatch } from "../access/token-watch.ts";
import { beginEvents, HttpRefusal } from "../replies.ts";
import { type EventSink, ResponseSink } from "./event-sink.ts";
import { WriteRounds } from "./write-rounds.ts";

const streamLimit = 512;

export interface StreamRequest {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly scope: Scope;
	readonly token: string;
}

export class OpenStreams {
	readonly #tokenWatch: TokenWatch;
	readonly #open = new Set<AbortController>();
	readonly #rounds = new WriteRounds();

	constructor(tokenWatch: TokenWatch) {
		this.#tokenWatch = tokenWatch;
	}

	get count(): number {
		return this.#open.size;
	}

	close(): void {
		for (const stream of this.#open) stream.abort();
	}

	async answer(
		{ request, response, scope, token }: StreamRequest,
		carry: (sink: EventSink) => Promise<void>,
		headers: Readonly<Record<string, string>> = {},
	): Promise<void> {
		if (this.#open.size >= streamLimit) {
			throw new HttpRefusal(503, `There are ${streamLimit} streams; close one, or carry several sessions in one.`);
		}
		const { socket } = request;
		// Reading the token took time, and the end of a connection is only reported once.
		if (socket.destroyed || response.destroyed) return;
		const ending = new AbortController();
		const end = () => ending.abort();
		this.#open.add(ending);
		const withdrawCheck = this.#tokenWatch.watch(token, scope, end);
		const sink = new ResponseSink(response, ending.signal, this.#rounds);
		try {
			beginEvents(response, headers);
			response.once("close", end);
			// An answer queued behind another on the same connection is not closed with it.
			socket.once("close", end);
			await carry(sink);
		} finally {
			withdrawCheck();
			socket.off("close", end);
			this.#open.delete(ending);
			sink.flush();
			response.end();
			// A client that does not read would hold the rest forever.
			if (ending.signal.aborted) response.destroy();
		}
	}
}
