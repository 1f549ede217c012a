// Streams one answer over chat completions: the adapter of the provider types `kimi` and `openai_legacy`. One request;
// the agent retries.
import { errorText } from "../../base/errors.ts";
import { type Identifiers, randomIdentifiers } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { type ServerEvents, streamServerEvents } from "../http/event-stream.ts";
import { createRedaction } from "../http/redaction.ts";
import { RequestFailure, requestFailure } from "../http/request-failure.ts";
import { createFailure, type ModelChunk, type ModelFailure, type ModelRequest } from "../model.ts";
import { type ChunkReader, createChunkReader } from "./chunk-reader.ts";
import { toAnswerFailure, toStreamFailure } from "./failures.ts";
import type { ChatFlavour, ChatSettings } from "./flavour.ts";
import { toBody, toEndpoint, toHeaders } from "./http-request.ts";

/** Milliseconds, after the end of the answer, for the usage and the end of the stream. */
const tailTimeout = 5000;

/** The chunks of one answer, by the contract of `Model.stream`. */
export async function* streamChatCompletion(
	settings: ChatSettings,
	flavour: ChatFlavour,
	request: ModelRequest,
	signal: AbortSignal,
	identifiers: Identifiers = randomIdentifiers,
): AsyncGenerator<ModelChunk, void> {
	if (signal.aborted) return;
	const reader = createChunkReader(reasoningKeys(settings), identifiers);
	let failure: ModelFailure | null = null;
	try {
		let outcome: Outcome = { kind: "open" };
		try {
			for await (const batch of requestEvents(settings, flavour, request, reader, signal)) {
				outcome = readBatch(batch, reader);
				if (signal.aborted) return;
				const parts = reader.take();
				if (parts.length > 0) yield { type: "parts", parts };
				if (outcome.kind !== "open") break;
			}
		} catch (thrown) {
			// After a finish reason the answer is complete, however the connection ends.
			if (reader.answer.finishReason === null || !(thrown instanceof RequestFailure)) throw thrown;
		}
		if (outcome.kind === "failed") failure = outcome.failure;
		else {
			if (outcome.kind === "open" && reader.answer.finishReason === null) {
				throw requestFailure("connection", "The provider's stream ended before the answer was complete.");
			}
			reader.end();
			const parts = reader.take();
			if (parts.length > 0 && !signal.aborted) yield { type: "parts", parts };
		}
	} catch (thrown) {
		failure = toModelFailure(thrown);
	}
	if (signal.aborted) return;
	if (failure === null) {
		const { usage, messageId } = reader.answer;
		yield { type: "done", usage, messageId };
		return;
	}
	yield { type: "failed", failure: withoutSecrets(failure, settings) };
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
			body: JSON.stringify(toBody(request, settings, flavour)),
			responseTimeout: response,
			idleTimeout: () => (reader.answer.finishReason === null ? idle : tailTime()),
			clock: settings.clock,
			toFailure: toAnswerFailure,
		},
		signal,
	);
}

type Outcome = { readonly kind: "open" | "ended" } | { readonly kind: "failed"; readonly failure: ModelFailure };

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
