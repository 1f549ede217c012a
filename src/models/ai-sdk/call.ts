// Streams one answer through a package of the `LanguageModelV3` line. One request, no retries: those are the agent's.
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { createRedaction } from "../http/redaction.ts";
import { type ModelChunk, type ModelFailure, type ModelRequest, modelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { toModelFailure } from "./failures.ts";
import type { ProviderMemory } from "./memory.ts";
import { createPartReader, type FinishPart, type PartReader, toTokenUsage } from "./stream.ts";
import { createTransport, type Protocol, type Transport } from "./transport.ts";

/** What makes a package one provider type. */
export interface PackageAdapter extends Protocol {
	readonly memory: ProviderMemory;
	/** The package's model, sending with `fetch`. Every value that the package would look up elsewhere is given. */
	createModel(fetch: typeof globalThis.fetch): LanguageModelV3;
	toCall(request: ModelRequest): LanguageModelV3CallOptions;
	/** Why an answer that says nothing ended; null when there is no more to say than that. */
	whyEmpty(finish: FinishPart): string | null;
}

export type PackageSettings = Pick<ModelSettings, "apiKey" | "customHeaders" | "timeouts" | "clock">;

/** The chunks of one answer, by the contract of `Model.stream`. */
export async function* streamFromPackage(
	settings: PackageSettings,
	adapter: PackageAdapter,
	request: ModelRequest,
	signal: AbortSignal,
	fetch: typeof globalThis.fetch = globalThis.fetch,
): AsyncGenerator<ModelChunk, void> {
	if (signal.aborted) return;
	const transport = createTransport(settings, adapter, signal, fetch);
	const reader = createPartReader(adapter.memory);
	let failure: ModelFailure | null;
	try {
		failure = yield* streamParts(adapter, request, reader, transport, signal);
	} catch (thrown) {
		failure = failureOf(transport) ?? toModelFailure(thrown);
	} finally {
		transport.close();
	}
	if (signal.aborted) return;
	const { finish, messageId } = reader.answer;
	if (failure === null && finish !== null) {
		yield { type: "done", usage: toTokenUsage(finish.usage), messageId };
		return;
	}
	const { kind, message, statusCode } = failure ?? unfinished;
	const redact = createRedaction([settings.apiKey, ...Object.values(settings.customHeaders)]);
	yield modelFailure(kind, redact(message), statusCode);
}

const unfinished: ModelFailure = {
	kind: "provider",
	message: "The provider ended the answer without saying how.",
	statusCode: null,
};

/** Yields the parts; returns how the answer failed, or null when it is complete. */
async function* streamParts(
	adapter: PackageAdapter,
	request: ModelRequest,
	reader: PartReader,
	transport: Transport,
	signal: AbortSignal,
): AsyncGenerator<ModelChunk, ModelFailure | null> {
	const { stream } = await adapter.createModel(transport.fetch).doStream(adapter.toCall(request));
	for await (const part of readStream(stream)) {
		// A package may take the end of a cut stream for that of the answer.
		if (part.type === "finish" && failureOf(transport) !== null) break;
		reader.read(part);
		if (signal.aborted) return null;
		const parts = reader.take();
		if (parts.length > 0) yield { type: "parts", parts };
		if (reader.answer.finish !== null) break;
	}
	const { finish, isEmpty } = reader.answer;
	const reason = finish !== null && isEmpty ? adapter.whyEmpty(finish) : null;
	if (reason !== null) return { kind: "provider", message: reason, statusCode: null };
	return failureOf(transport);
}

async function* readStream(
	stream: ReadableStream<LanguageModelV3StreamPart>,
): AsyncGenerator<LanguageModelV3StreamPart, void> {
	const reader = stream.getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			yield value;
		}
	} finally {
		// Nobody waits for it: a package may hold the end of its stream back.
		reader.cancel().catch(() => {});
	}
}

function failureOf(transport: Transport): ModelFailure | null {
	const outcome = transport.outcome();
	return outcome.kind === "failed" ? outcome.failure : null;
}
