// A client of the session: attaches, reads at its speed, remembers what it got, and comes back with what it remembers.

import type { Attachment } from "../../../src/api/kernel.ts";
import type { AttachOptions, Flow } from "../../../src/api/session-options.ts";
import type { AgentEvent, Cursor } from "../../../src/api/values/event.ts";
import type { Interaction } from "../../../src/api/values/interaction.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import type { SessionAccess } from "./access.ts";
import { TextItems } from "./text-items.ts";

export type Speed = "never" | "slow" | "fast";
/** What a client says it has when it attaches. */
export type CursorChoice = "none" | "own" | "earlier" | "first" | "older-history" | "beyond";

export interface Abilities {
	readonly flow: Flow;
	readonly approves: boolean;
	readonly answersQuestions: boolean;
}

/** Events of one batch that a client may be given: more would have been queued without a bound. */
const batchLimit = { blocking: 512, droppable: 257 } as const;
/** Turns of the event loop that a slow client takes for a batch. */
const slowness = 7;

/** What came through one attachment. */
export class Stream {
	readonly attachment: Attachment;
	/** The durable events, which continue from the one after `first`. */
	readonly durable: AgentEvent[] = [];
	readonly texts = new TextItems();
	readonly faults: string[] = [];
	received = 0;
	hasEnded = false;
	first: number;
	readonly #flow: Flow;
	readonly #expectsReset: boolean;
	/** Whether volatile events may be missing. */
	readonly #mayLack: boolean;
	#speed: Speed;
	#woken = createDeferred<void>();
	#isLost = false;

	constructor(attachment: Attachment, options: AttachOptions, speed: Speed) {
		const { snapshot } = attachment;
		const { after, flow = "blocking" } = options;
		const { cursor, turnId, unfinished } = snapshot;
		this.attachment = attachment;
		this.#flow = flow;
		this.#speed = speed;
		this.#expectsReset = after !== undefined && (after.epoch !== cursor.epoch || after.seq > cursor.seq);
		this.first = this.#expectsReset ? 0 : (after?.seq ?? cursor.seq);
		const isCurrent = this.first === cursor.seq;
		this.#mayLack = flow === "droppable" || !isCurrent;
		if (isCurrent) this.texts.begin(turnId, unfinished);
		void this.#read();
	}

	/** The last durable event that the client has. */
	get cursor(): Cursor {
		return { epoch: this.attachment.snapshot.cursor.epoch, seq: this.first + this.durable.length };
	}

	setSpeed(speed: Speed): void {
		this.#speed = speed;
		this.#woken.resolve();
		this.#woken = createDeferred();
	}

	/** The connection is lost: whatever is still queued is never read. */
	lose(): void {
		this.#isLost = true;
		this.setSpeed("fast");
		this.attachment.close();
	}

	get isLost(): boolean {
		return this.#isLost;
	}

	async #read(): Promise<void> {
		const reader = this.attachment.events[Symbol.asyncIterator]();
		try {
			while (!this.#isLost) {
				while (this.#speed === "never") await this.#woken.promise;
				if (this.#speed === "slow") for (let turn = 0; turn < slowness; turn += 1) await nextTurn();
				if (this.#isLost) break;
				const { value, done } = await reader.next();
				if (done === true) break;
				if (!this.#isLost) this.#take(value);
			}
		} catch (thrown) {
			this.faults.push(`reading failed: ${String(thrown)}`);
		}
		this.hasEnded = true;
	}

	#take(batch: readonly AgentEvent[]): void {
		if (batch.length > batchLimit[this.#flow]) this.faults.push(`a batch of ${batch.length} events was queued`);
		for (const event of batch) {
			const { body, seq } = event;
			const isFirst = this.received === 0;
			this.received += 1;
			if ((body.type === "session.reset") !== (isFirst && this.#expectsReset)) {
				this.faults.push(
					isFirst ? `${body.type} comes first, with a reset expected: ${this.#expectsReset}` : "a reset in the middle",
				);
			}
			if (
				(body.type === "client.attached" || body.type === "client.detached") &&
				body.clientId === this.attachment.id
			) {
				this.faults.push(`${body.type} is told to the client itself`);
			}
			if (seq !== undefined) {
				const expected = this.cursor.seq + 1;
				if (seq !== expected) this.faults.push(`event ${seq} comes where ${expected} is due`);
				else this.durable.push(event);
			}
			this.texts.take(event, this.#mayLack);
		}
	}
}

export class CampaignClient {
	readonly name: string;
	readonly abilities: Abilities;
	readonly access: SessionAccess;
	readonly streams: Stream[] = [];
	#current: Stream | null = null;

	constructor(name: string, abilities: Abilities, access: SessionAccess) {
		this.name = name;
		this.abilities = abilities;
		this.access = access;
	}

	get current(): Stream | null {
		return this.#current;
	}

	/** Attaches, or attaches anew in place of the attachment that it has. */
	async attach(choice: CursorChoice, speed: Speed): Promise<void> {
		const { flow, approves, answersQuestions } = this.abilities;
		const after = await this.#cursor(choice);
		const earlier = this.#current;
		const options: AttachOptions = {
			client: { name: this.name, version: null },
			tools: [],
			capabilities: answersQuestions ? ["questions"] : [],
			approves,
			hooks: null,
			flow,
			...(after === null ? {} : { after }),
			...(earlier === null ? {} : { replaces: earlier.attachment.id }),
		};
		const attachment = await this.access.attach(options);
		// It is read to its end, as the client had it before the other.
		earlier?.setSpeed("fast");
		this.#current = new Stream(attachment, options, speed);
		this.streams.push(this.#current);
	}

	lose(): void {
		this.#current?.lose();
		this.#current = null;
	}

	/** The requests that are open as far as this client knows. */
	open(): readonly Interaction[] {
		const stream = this.#current;
		if (stream === null) return [];
		const open = new Map<string, Interaction>();
		for (const { body } of [...stream.attachment.snapshot.openInteractions, ...stream.durable]) {
			if (body.type === "interaction.requested") open.set(body.interaction.id, body.interaction);
			if (body.type === "interaction.resolved") open.delete(body.interactionId);
		}
		return [...open.values()];
	}

	async #cursor(choice: CursorChoice): Promise<Cursor | null> {
		const own = this.streams.at(-1)?.cursor;
		if (choice === "none") return null;
		const now = own ?? (await this.access.snapshot()).cursor;
		switch (choice) {
			case "own":
				return now;
			case "earlier":
				return { ...now, seq: Math.floor(now.seq / 2) };
			case "first":
				return { ...now, seq: 0 };
			case "older-history":
				return { ...now, epoch: "older" };
			case "beyond":
				return { ...now, seq: now.seq + 1_000_000 };
		}
	}
}
