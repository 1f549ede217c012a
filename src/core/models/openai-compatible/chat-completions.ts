// Streams one answer over chat completions: the adapter of the provider types `kimi` and `openai_legacy`. One request;
// the agent retries.
import { errorText } from "../../../base/errors.ts";
import { type Identifiers, randomIdentifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { type ServerEvents, streamServerEvents } from "../http/event-stream.ts";
import { createRedaction } from "../http/redaction.ts";
import { RequestFailure, requestFailure } from "../http/request-failure.ts";
import { createFailure, type ModelChunk, type ModelFailure, type ModelRequest } from "../model.ts";
import { toJsonBody } from "../requests/json-body.ts";
import { type ChunkReader, createChunkReader } from "./chunk-reader.ts";
import { toAnswerFailure, toStreamFailure } from "./failures.ts";
import type { ChatFlavour, ChatSettings } from "./flavour.ts";
import { toBody, toEndpoint, toHeaders } from "./http-request.ts";

/** Milliseconds, after the end of the answer, for the usage and the end of the stream. */
const tailTimeout = 5000;

/** The chunks of one answer, by the contract of `Model.stream`. */
export function streamChatCompletion(
	settings: ChatSettings,
	flavour: ChatFlavour,
	request: ModelRequest,
	signal: AbortSignal,
	identifiers: Identifiers = randomIdentifiers,
): AsyncIterableIterator<ModelChunk, void> {
	const reader = createChunkReader(reasoningKeys(settings), identifiers);
	return new ChatAnswer(() => requestEvents(settings, flavour, request, reader, signal), reader, settings, signal);
}

const over = { done: true, value: undefined } as const;

/** Written out instead of as a generator, which takes several promises more for every chunk. */
class ChatAnswer implements AsyncIterableIterator<ModelChunk, void> {
	readonly #request: () => ServerEvents;
	readonly #reader: ChunkReader;
	readonly #settings: ChatSettings;
	readonly #signal: AbortSignal;
	/** Null before the request. */
	#events: ServerEvents | null = null;
	/** What follows the end of the answer; null before it. */
	#last: ModelChunk[] | null = null;

	constructor(request: () => ServerEvents, reader: ChunkReader, settings: ChatSettings, signal: AbortSignal) {
		this.#request = request;
		this.#reader = reader;
		this.#settings = settings;
		this.#signal = signal;
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	async next(): Promise<IteratorResult<ModelChunk, void>> {
		try {
			if (this.#events === null && !this.#signal.aborted) this.#events = this.#request();
			while (this.#last === null && this.#events !== null) {
				const { done, value } = await this.#events.next();
				// Asked once for each chunk: it takes longer than reading it.
				if (this.#signal.aborted) break;
				const outcome = done === true ? closed : readBatch(value, this.#reader);
				const parts = this.#reader.take();
				if (outcome.kind !== "open") await this.#end(outcome);
				if (parts.length > 0) return { done: false, value: { type: "parts", parts } };
			}
		} catch (thrown) {
			// After a finish reason the answer is complete, however the connection ends.
			const isComplete = this.#reader.answer.finishReason !== null && thrown instanceof RequestFailure;
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

	async #end(outcome: Ended): Promise<void> {
		// A reader that has left while it waited gets nothing more.
		this.#last ??= this.#lastChunks(outcome);
		await this.#events?.return();
	}

	#lastChunks(outcome: Ended): ModelChunk[] {
		if (outcome.kind === "failed")
			return [{ type: "failed", failure: withoutSecrets(outcome.failure, this.#settings) }];
		const { answer } = this.#reader;
		try {
			if (outcome.kind === "closed" && answer.finishReason === null) {
				throw requestFailure("connection", "The provider's stream ended before the answer was complete.");
			}
			this.#reader.end();
		} catch (thrown) {
			return this.#lastChunks({ kind: "failed", failure: toModelFailure(thrown) });
		}
		const parts = this.#reader.take();
		const { usage, messageId } = answer;
		return [...(parts.length > 0 ? [{ type: "parts", parts } as const] : []), { type: "done", usage, messageId }];
	}
}

/** The failure without secrets, ready to be reported. */
export function withoutSecrets(failure: ModelFailure, settings: ChatSettings): ModelFailure {
	const redact = createRedaction([settings.apiKey, ...Object.values(settings.customHeaders)]);
	return { ...failure, message: redact(failure.message) };
}

function reasoningKeys({ reasoningKey }: ChatSettings): readonly string[] {
	const custom = reasoningKey === null || reasoningKey === "" ? [] : [reasoningKey];
	return [...custom, "reasoning_content", "reasoning"];
}

export function toModelFailure(thrown: unknown): ModelFailure {
	if (thrown instanceof RequestFailure) return thrown.failure;
	return createFailure("defect", errorText(thrown));
}

function requestEvents(
	settings: ChatSettings,
	flavour: ChatFlavour,
	request: ModelRequest,
	reader: ChunkReader,
	signal: AbortSignal,
): ServerEvents {
	const { response, idle } = settings.timeouts;
	let tailEnd: number | null = null;
	/** The rest of the tail's time, however often something arrives in it. */
	const tailTime = () => {
		tailEnd ??= settings.clock.monotonic() + Math.min(idle, tailTimeout);
		return Math.max(0, tailEnd - settings.clock.monotonic());
	};
	return streamServerEvents(
		{
			fetch: settings.network.fetch,
			url: toEndpoint(settings.baseUrl),
			headers: toHeaders(settings),
			body: toJsonBody(toBody(request, settings, flavour)),
			responseTimeout: response,
			idleTimeout: () => (reader.answer.finishReason === null ? idle : tailTime()),
			clock: settings.clock,
			toFailure: toAnswerFailure,
		},
		signal,
	);
}

/** How an answer ended: by its own mark, by the end of its stream, or by a failure. */
type Ended = { readonly kind: "ended" | "closed" } | { readonly kind: "failed"; readonly failure: ModelFailure };
type Outcome = { readonly kind: "open" } | Ended;
const closed = { kind: "closed" } as const;

/** Reads events until one ends the stream, so that what came before an error is still emitted. */
function readBatch(batch: readonly ServerEvent[], reader: ChunkReader): Outcome {
	for (const event of batch) {
		if (event.data.trim() === "[DONE]") return { kind: "ended" };
		try {
			readEvent(event, reader);
		} catch (thrown) {
			return { kind: "failed", failure: toModelFailure(thrown) };
		}
	}
	return { kind: "open" };
}

function readEvent(event: ServerEvent, reader: ChunkReader): void {
	let chunk: unknown;
	try {
		chunk = JSON.parse(event.data);
	} catch {
		if (event.event === "error") throw new RequestFailure(toStreamFailure(event.data));
		if (event.cut) return;
		throw requestFailure("provider", "The provider sent an event that is not JSON.");
	}
	if (event.event === "error") {
		const error = isRecord(chunk) ? (chunk["error"] ?? chunk) : chunk;
		throw new RequestFailure(toStreamFailure(error));
	}
	reader.read(chunk);
}
