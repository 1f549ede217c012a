// A connection's event subscriptions (`session/stream_open`), including runs that other clients start.
import { forgetOldest } from "../../base/collections.ts";
import type { Identifiers } from "../../base/ids.ts";
import { cut } from "../../base/text/sentence.ts";
import { NamedError } from "./errors.ts";
import type { EventEnvelope, SeedEvent } from "./wire/wire-events.ts";
import type { StreamCloseResult, StreamEnd, StreamOpenResult } from "./wire/wire-streams.ts";

const maximumStreams = 256;

/** Closed subscriptions whose ids are still known. */
const rememberedStreams = 1000;

interface Stream {
	readonly sessionId: string;
	sequence: number;
}

export interface StreamEvent {
	readonly stream_id: string;
	readonly sequence: number;
	readonly session_id: string;
	readonly event: SeedEvent | EventEnvelope;
}

export class SessionStreams {
	readonly #identifiers: Pick<Identifiers, "uuid">;
	readonly #sendEnd: (end: StreamEnd) => void;
	readonly #open = new Map<string, Stream>();
	readonly #closed = new Set<string>();

	/** `sendEnd` tells the client that a subscription is over. */
	constructor(identifiers: Pick<Identifiers, "uuid">, sendEnd: (end: StreamEnd) => void) {
		this.#identifiers = identifiers;
		this.#sendEnd = sendEnd;
	}

	open(sessionId: string): StreamOpenResult {
		if (this.#open.size >= maximumStreams) {
			throw new NamedError(
				"OVERLOADED",
				`${maximumStreams} streams are open on this connection already; close one before you open another.`,
				{ limit: maximumStreams, session_id: sessionId },
			);
		}
		const stream_id = this.#identifiers.uuid();
		this.#open.set(stream_id, { sessionId, sequence: 0 });
		return { stream_id, session_id: sessionId, opened: true };
	}

	/** `ended` is sent after the response. Fails for an id that this connection never had. */
	close(streamId: string): { readonly result: StreamCloseResult; ended(): void } {
		const stream = this.#open.get(streamId);
		if (stream === undefined && !this.#closed.has(streamId)) {
			const shown = cut(streamId, 100);
			throw new NamedError("INVALID_PARAMS", `Invalid params: no stream of this connection has the id ${shown}.`);
		}
		return {
			result: { stream_id: streamId, closed: true, already_closed: stream === undefined },
			ended: () => this.#end(streamId, "explicit_close"),
		};
	}

	endAll(sessionId: string): void {
		for (const [id, stream] of this.#open) if (stream.sessionId === sessionId) this.#end(id, "remote_end");
	}

	has(sessionId: string): boolean {
		return this.#open.size > 0 && [...this.#open.values()].some((stream) => stream.sessionId === sessionId);
	}

	take(sessionId: string, event: SeedEvent | EventEnvelope): readonly StreamEvent[] {
		if (this.#open.size === 0) return [];
		return [...this.#open].flatMap(([stream_id, stream]) => {
			if (stream.sessionId !== sessionId) return [];
			stream.sequence += 1;
			return [{ stream_id, sequence: stream.sequence, session_id: sessionId, event }];
		});
	}

	#end(streamId: string, outcome: StreamEnd["outcome"]): void {
		const stream = this.#open.get(streamId);
		if (stream === undefined) return;
		this.#open.delete(streamId);
		this.#closed.add(streamId);
		forgetOldest(this.#closed, rememberedStreams);
		this.#sendEnd({ stream_id: streamId, session_id: stream.sessionId, ended: true, outcome });
	}
}
