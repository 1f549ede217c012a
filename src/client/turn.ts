// One turn: an async iterable of events and a promise of the result, usable any number of times.
import type { PeerGone } from "./errors.ts";
import { addUsage, noUsage, originOf, type TurnEvent, type TurnResult, toBody, usageOf } from "./events.ts";
import type { PublicEvent, TurnEndedEvent } from "./protocol-types.ts";

export type Outcome = NonNullable<TurnEndedEvent["outcome"]>;

export class TurnRecord {
	readonly result: Promise<TurnResult>;
	/** Resolves when the turn has started or failed to. */
	readonly started: Promise<void>;
	readonly #events: TurnEvent[] = [];
	/** Number of events read by someone; later ones may still be merged. */
	#read = 0;
	readonly #waiting = new Set<() => void>();
	#resolve: (result: TurnResult) => void = () => {};
	#reject: (error: Error) => void = () => {};
	#start: () => void = () => {};
	#id = "";
	#text = "";
	/** Streamed length of the incomplete text, by agent and kind. */
	readonly #streamed = new Map<string, number>();
	#usage = noUsage;
	#lost: Error | null = null;
	#isOver = false;

	constructor() {
		this.result = new Promise((resolve, reject) => {
			this.#resolve = resolve;
			this.#reject = reject;
		});
		this.started = new Promise((resolve) => {
			this.#start = resolve;
		});
		// A caller that only iterates gets the failure there.
		this.result.catch(() => {});
	}

	get id(): string {
		return this.#id;
	}

	get isOver(): boolean {
		return this.#isOver || this.#lost !== null;
	}

	async *read(): AsyncGenerator<TurnEvent> {
		for (let index = 0; ; index += 1) {
			while (index >= this.#events.length) {
				if (this.#lost !== null) throw this.#lost;
				if (this.#isOver) return;
				await new Promise<void>((resolve) => this.#waiting.add(resolve));
			}
			this.#read = Math.max(this.#read, index + 1);
			const event = this.#events[index];
			if (event !== undefined) yield event;
		}
	}

	begin(id: string): void {
		this.#id = id;
		this.#start();
	}

	take(event: PublicEvent): void {
		const origin = originOf(event);
		const isOwn = origin.agent === null;
		if (event.type === "step.started" && isOwn) this.#text = "";
		if (event.type === "status.changed" && isOwn) this.#usage = addUsage(this.#usage, usageOf(event) ?? noUsage);
		if (event.type === "content.delta" || event.type === "content.completed") {
			this.#takeContent(event);
			return;
		}
		const body = toBody(event);
		if (body !== null) this.add({ ...origin, ...body });
	}

	add(event: TurnEvent): void {
		const last = this.#events.at(-1);
		const merged = last === undefined || this.#read >= this.#events.length ? null : merge(last, event);
		if (merged === null) this.#events.push(event);
		else this.#events[this.#events.length - 1] = merged;
		this.#wake();
	}

	end(outcome: Outcome | null, output: unknown): void {
		this.#end({ ...toResult(outcome), output });
	}

	/** It did not start, or its result is unusable. */
	fail(error: { readonly code: string; readonly message: string }): void {
		this.#end({ outcome: "failed", error, output: null });
	}

	#end(end: Pick<TurnResult, "outcome" | "error" | "output">): void {
		if (this.isOver) return;
		const result = { ...end, turnId: this.#id, text: this.#text, usage: this.#usage };
		this.#isOver = true;
		this.add({ agent: null, cursor: null, type: "ended", result });
		this.#resolve(result);
		this.#start();
	}

	/** Its end will never be known. */
	lose(error: PeerGone): void {
		if (this.isOver) return;
		this.#lost = error;
		this.#reject(error);
		this.#start();
		this.#wake();
	}

	#wake(): void {
		for (const wake of this.#waiting) wake();
		this.#waiting.clear();
	}

	/** After missed pieces, the rest comes with the complete text. */
	#takeContent(event: Extract<PublicEvent, { type: "content.delta" | "content.completed" }>): void {
		const { part } = event;
		if (part.type !== "text" && part.type !== "think") return;
		const origin = originOf(event);
		const type = part.type === "text" ? "text" : "thinking";
		const text = part.type === "text" ? part.text : part.think;
		const key = `${type} ${origin.agent ?? ""}`;
		const streamed = this.#streamed.get(key) ?? 0;
		if (event.type === "content.delta") {
			this.#streamed.set(key, streamed + text.length);
			this.add({ ...origin, type, text });
			return;
		}
		this.#streamed.delete(key);
		if (type === "text" && origin.agent === null) this.#text += text;
		if (streamed < text.length) this.add({ ...origin, type, text: text.slice(streamed) });
	}
}

export interface TurnActs {
	cancel(): Promise<unknown>;
	steer(text: string): Promise<void>;
}

export class Turn<Output = unknown> implements AsyncIterable<TurnEvent<Output>>, PromiseLike<TurnResult<Output>> {
	readonly #record: TurnRecord;
	readonly #acts: TurnActs;

	constructor(record: TurnRecord, acts: TurnActs) {
		this.#record = record;
		this.#acts = acts;
	}

	/** Empty until the server has started it. */
	get id(): string {
		return this.#record.id;
	}

	/** The result then says `cancelled`. Does nothing once it is over. */
	async cancel(): Promise<void> {
		await this.#record.started;
		if (!this.#record.isOver) await this.#acts.cancel();
	}

	/** Fails with Refused when the turn is over. */
	async steer(text: string): Promise<void> {
		await this.#record.started;
		await this.#acts.steer(text);
	}

	// biome-ignore lint/suspicious/noThenProperty: awaiting a turn gives its result
	then<A = TurnResult<Output>, B = never>(
		onResult?: ((result: TurnResult<Output>) => A | PromiseLike<A>) | null,
		onError?: ((error: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		// The session validated the output with this type's schema.
		const result = this.#record.result as Promise<TurnResult<Output>>;
		return result.then(onResult, onError);
	}

	/** All events from the first to `ended`. Throws PeerGone when the connection is lost before. */
	[Symbol.asyncIterator](): AsyncIterator<TurnEvent<Output>> {
		return this.#record.read() as AsyncGenerator<TurnEvent<Output>>;
	}
}

/** Merges unread pieces of one text; null for other events. */
function merge(one: TurnEvent, other: TurnEvent): TurnEvent | null {
	if (one.agent !== other.agent) return null;
	if ((one.type === "text" || one.type === "thinking") && one.type === other.type) {
		return { ...other, text: one.text + other.text };
	}
	if (one.type === "call.output" && other.type === "call.output" && one.callId === other.callId) {
		return { ...other, text: one.text + other.text };
	}
	return null;
}

function toResult(outcome: Outcome | null): Pick<TurnResult, "outcome" | "error"> {
	if (outcome === null) {
		return { outcome: "failed", error: { code: "closed", message: "The turn was interrupted: the server ended." } };
	}
	switch (outcome.status) {
		case "finished":
			return { outcome: "finished", error: null };
		case "truncated":
			return {
				outcome: "truncated",
				error: { code: "truncated", message: `The answer is cut off: the model stopped with ${outcome.reason}.` },
			};
		case "cancelled":
			return { outcome: "cancelled", error: null };
		case "max-steps":
			return { outcome: "limit", error: { code: "max-steps", message: `The limit of ${outcome.limit} was reached.` } };
		case "failed": {
			const { code, message, data, isRefused } = outcome.error;
			const kind = isRefused === true ? "refused" : code === "budget-exhausted" ? "limit" : "failed";
			return { outcome: kind, error: { code, message: advised(message, data) } };
		}
	}
}

/** Appends the kernel's advice to the message. */
function advised(message: string, data: unknown): string {
	const hasAdvice = typeof data === "object" && data !== null && "advice" in data;
	return hasAdvice ? `${message}. ${String(data.advice)}` : message;
}
