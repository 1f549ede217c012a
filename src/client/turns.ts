// Passes each event to the record of its turn.
import type { Ask } from "./asks.ts";
import { messageOf, type PeerGone } from "./errors.ts";
import { type Cursor, originOf } from "./events.ts";
import type { InteractionRequestedEvent, PublicEvent } from "./protocol-types.ts";
import { type Schema, validate } from "./tools.ts";
import type { Outcome, TurnRecord } from "./turn.ts";

export interface TurnsParts {
	toAsk(event: InteractionRequestedEvent): Ask | null;
	position(): Promise<Cursor>;
	history(): AsyncIterable<PublicEvent>;
}

export class Turns {
	readonly #parts: TurnsParts;
	/** Keys of turns whose start event has not arrived. */
	readonly #starting = new Map<TurnRecord, string>();
	readonly #running = new Map<string, Set<TurnRecord>>();
	/** Events received while earlier ones of the turn are being read. */
	readonly #held = new Map<TurnRecord, PublicEvent[]>();
	readonly #schemas = new WeakMap<TurnRecord, Schema>();
	readonly #arrivals = new Set<() => void>();
	#received = 0;
	#isLost = false;

	constructor(parts: TurnsParts) {
		this.#parts = parts;
	}

	/** Expects the start of a turn with this key. */
	add(record: TurnRecord, key: string, output: Schema | undefined): void {
		this.#starting.set(record, key);
		if (output !== undefined) this.#schemas.set(record, output);
	}

	/** It did not start, or could not be joined. */
	remove(record: TurnRecord): void {
		this.#starting.delete(record);
		this.#held.delete(record);
		this.#leave(record);
	}

	/** Events up to here are known, or precede this client. */
	reach(position: Cursor): void {
		this.#received = position.seq;
	}

	/** A repeated prompt gets the events of the turn that its key started before. */
	async join(record: TurnRecord, turnId: string): Promise<void> {
		const position = await this.#parts.position();
		while (this.#received < position.seq && this.#starting.has(record) && !this.#isLost) {
			await new Promise<void>((resolve) => this.#arrivals.add(resolve));
		}
		if (!this.#starting.has(record)) return;
		this.#begin(record, turnId);
		const held: PublicEvent[] = [];
		this.#held.set(record, held);
		let last = 0;
		for await (const event of this.#parts.history()) {
			last = event.seq ?? last;
			if (event.turnId === turnId) this.#give(record, event);
		}
		this.#held.delete(record);
		for (const event of held) if ((event.seq ?? last + 1) > last) this.#give(record, event);
	}

	take(event: PublicEvent): void {
		if (event.turnId !== null) this.#takeOfTurn(event, event.turnId);
		this.#received = event.seq ?? this.#received;
		this.#wake();
	}

	/** The ends of these turns will never be known. */
	lose(error: PeerGone): void {
		this.#isLost = true;
		for (const record of this.#starting.keys()) record.lose(error);
		for (const records of this.#running.values()) for (const record of records) record.lose(error);
		this.#starting.clear();
		this.#running.clear();
		this.#wake();
	}

	#wake(): void {
		for (const wake of this.#arrivals) wake();
		this.#arrivals.clear();
	}

	#takeOfTurn(event: PublicEvent, turnId: string): void {
		if (event.type === "turn.started" && event.agentPath.length === 0) {
			for (const [record, key] of this.#starting) if (key === event.key) this.#begin(record, turnId);
		}
		for (const record of this.#running.get(turnId) ?? []) {
			const held = this.#held.get(record);
			if (held === undefined) this.#give(record, event);
			else held.push(event);
		}
	}

	#begin(record: TurnRecord, turnId: string): void {
		this.#starting.delete(record);
		record.begin(turnId);
		const records = this.#running.get(turnId) ?? new Set();
		this.#running.set(turnId, records.add(record));
	}

	#leave(record: TurnRecord): void {
		const records = this.#running.get(record.id);
		records?.delete(record);
		if (records?.size === 0) this.#running.delete(record.id);
	}

	#give(record: TurnRecord, event: PublicEvent): void {
		if (event.type === "turn.ended" && event.agentPath.length === 0) {
			this.#leave(record);
			void this.#end(record, event.outcome);
		} else if (event.type === "interaction.requested") {
			const ask = this.#parts.toAsk(event);
			if (ask?.kind === "approval") record.add({ ...originOf(event), type: "approval", ask });
			if (ask?.kind === "question") record.add({ ...originOf(event), type: "question", ask });
		} else {
			record.take(event);
		}
	}

	async #end(record: TurnRecord, outcome: Outcome | null): Promise<void> {
		const formed = outcome?.status === "finished" ? outcome.formed : undefined;
		const schema = this.#schemas.get(record);
		if (formed === undefined || schema === undefined) {
			record.end(outcome, null);
			return;
		}
		try {
			if (formed.kind === "unformed") throw new TypeError(formed.reason);
			record.end(outcome, await validate(schema, formed.value));
		} catch (thrown) {
			record.fail({ code: "invalid-output", message: `The answer does not fit the schema: ${messageOf(thrown)}` });
		}
	}
}
