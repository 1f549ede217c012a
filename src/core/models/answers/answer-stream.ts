// Makes one request and reports how the answer ended. Shared by all protocols; the agent retries.
import type { TokenUsage } from "../../../api/values/content.ts";
import type { ErrorReader } from "../http/error-answer.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { type ServerEvents, streamServerEvents } from "../http/event-stream.ts";
import { withoutSecrets } from "../http/redaction.ts";
import { RequestFailure, requestFailure, toModelFailure } from "../http/request-failure.ts";
import type { ModelChunk, ModelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { toJsonBody } from "../requests/json-body.ts";
import { type EndReason, isCutOff, readEnd } from "./answer-end.ts";
import { readEventJson } from "./event-json.ts";
import type { PartOrder } from "./part-order.ts";

export type StreamSettings = Pick<ModelSettings, "apiKey" | "customHeaders" | "timeouts" | "clock" | "network">;

export interface ProviderRequest {
	readonly url: URL;
	readonly headers: Headers;
	readonly body: unknown;
}

export interface Exchange {
	/** May throw RequestFailure; after an abort, anything. */
	toRequest(signal: AbortSignal): ProviderRequest | Promise<ProviderRequest>;
	readonly errors: ErrorReader;
	readonly reader: AnswerReader;
	readonly endMark?: string;
}

export interface AnswerReader {
	/** Reads one decoded event. Throws RequestFailure. */
	read(value: unknown): void;
	readonly order: PartOrder;
	readonly answer: Answer;
	/** The answer is complete: emits everything held back. */
	end?(): void;
}

export interface Answer {
	/** `complete`: only the usage may follow; `over`: nothing follows. */
	readonly state: "open" | "complete" | "over";
	readonly end: EndReason | null;
	readonly usage: TokenUsage | null;
	readonly messageId: string | null;
}

export type AnswerDraft = { -readonly [Key in keyof Answer]: Answer[Key] };

export function createAnswer(): AnswerDraft {
	return { state: "open", end: null, usage: null, messageId: null };
}

export function streamAnswer(
	settings: StreamSettings,
	exchange: () => Exchange,
	signal: AbortSignal,
): AsyncIterableIterator<ModelChunk, void> {
	return new AnswerStream(settings, exchange, signal);
}

/** Milliseconds to wait after the answer for the usage and the end of the stream. */
const tailTimeout = 5000;

const over = { done: true, value: undefined } as const;
const cutOff = "The provider's stream ended before the answer was complete.";

/** Not a generator, which would take several more promises per chunk. */
class AnswerStream implements AsyncIterableIterator<ModelChunk, void> {
	readonly #settings: StreamSettings;
	readonly #create: () => Exchange;
	readonly #signal: AbortSignal;
	#exchange: Exchange | null = null;
	#events: ServerEvents | null = null;
	/** Deadline for the tail of the answer; null before it. */
	#tailEnd: number | null = null;
	/** The final chunks; null before the answer has ended. */
	#last: ModelChunk[] | null = null;

	constructor(settings: StreamSettings, create: () => Exchange, signal: AbortSignal) {
		this.#settings = settings;
		this.#create = create;
		this.#signal = signal;
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	async next(): Promise<IteratorResult<ModelChunk, void>> {
		try {
			if (this.#exchange === null && !this.#signal.aborted) await this.#send();
			while (this.#last === null && this.#events !== null && this.#exchange !== null) {
				const { done, value } = await this.#events.next();
				// Checked once per chunk, because the check is slower than the read.
				if (this.#signal.aborted) break;
				const outcome = done === true ? closed : readBatch(value, this.#exchange);
				const parts = this.#exchange.reader.order.take();
				if (outcome.kind !== "open") await this.#end(outcome);
				if (parts.length > 0) return { done: false, value: { type: "parts", parts } };
			}
		} catch (thrown) {
			// A complete answer counts even if the connection then breaks.
			const isComplete = this.#exchange?.reader.answer.state === "complete" && thrown instanceof RequestFailure;
			await this.#end(isComplete ? closed : { kind: "failed", failure: toModelFailure(thrown) });
		}
		const chunk = this.#signal.aborted ? undefined : this.#last?.shift();
		if (chunk === undefined) return await this.return();
		return { done: false, value: chunk };
	}

	async return(): Promise<IteratorReturnResult<void>> {
		this.#last = [];
		await this.#events?.return();
		return over;
	}

	async #send(): Promise<void> {
		const exchange = this.#create();
		this.#exchange = exchange;
		const { clock, network, timeouts } = this.#settings;
		const { url, headers, body } = await exchange.toRequest(this.#signal);
		if (this.#last !== null || this.#signal.aborted) return;
		this.#events = streamServerEvents(
			{
				...{ url, headers, clock },
				body: toJsonBody(body),
				fetch: network.fetch,
				responseTimeout: timeouts.response,
				idleTimeout: () => (exchange.reader.answer.state === "open" ? timeouts.idle : this.#tailTime()),
				toFailure: exchange.errors.answer,
			},
			this.#signal,
		);
	}

	/** The remaining tail time, regardless of events in it. */
	#tailTime(): number {
		const { clock, timeouts } = this.#settings;
		this.#tailEnd ??= clock.monotonic() + Math.min(timeouts.idle, tailTimeout);
		return Math.max(0, this.#tailEnd - clock.monotonic());
	}

	async #end(outcome: Ended): Promise<void> {
		// A reader that left while waiting gets nothing more.
		this.#last ??= this.#lastChunks(outcome);
		await this.#events?.return();
	}

	#lastChunks(outcome: Ended): ModelChunk[] {
		const reader = this.#exchange?.reader;
		if (outcome.kind === "failed" || reader === undefined) {
			const failure =
				outcome.kind === "failed" ? outcome.failure : toModelFailure(requestFailure("connection", cutOff));
			return [{ type: "failed", failure: withoutSecrets(failure, this.#settings) }];
		}
		const { state, end: reason, usage, messageId } = reader.answer;
		try {
			if (outcome.kind === "closed" && state === "open") throw requestFailure("connection", cutOff);
			reader.order.end(isCutOff(reason?.reason ?? null));
			reader.end?.();
		} catch (thrown) {
			return this.#lastChunks({ kind: "failed", failure: toModelFailure(thrown) });
		}
		const parts = reader.order.take();
		const said: ModelChunk[] = parts.length > 0 ? [{ type: "parts", parts }] : [];
		const end = reason === null ? null : readEnd(reason, reader.order.isEmpty());
		if (end !== null && "message" in end) {
			return [...said, ...this.#lastChunks({ kind: "failed", failure: end })];
		}
		return [...said, { type: "done", usage, messageId, ...(end === null ? {} : { end }) }];
	}
}

/** How an answer ended: by its end mark, the end of its stream, or a failure. */
type Ended = { readonly kind: "ended" | "closed" } | { readonly kind: "failed"; readonly failure: ModelFailure };
type Outcome = { readonly kind: "open" } | Ended;
const closed = { kind: "closed" } as const;

function readBatch(batch: readonly ServerEvent[], { reader, errors, endMark }: Exchange): Outcome {
	for (const event of batch) {
		if (endMark !== undefined && event.data.trim() === endMark) return { kind: "ended" };
		try {
			const value = readEventJson(event, errors);
			if (value !== undefined) reader.read(value);
		} catch (thrown) {
			return { kind: "failed", failure: toModelFailure(thrown) };
		}
		if (reader.answer.state === "over") return { kind: "ended" };
	}
	return { kind: "open" };
}
