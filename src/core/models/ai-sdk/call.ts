// Streams one answer through a package of the `LanguageModelV3` line. One request; the agent retries.
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { createRedaction } from "../http/redaction.ts";
import { createFailure, type ModelChunk, type ModelFailure, type ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { toModelFailure } from "./failures.ts";
import type { ProviderMemory } from "./memory.ts";
import { createPartReader, type FinishPart, type PartReader, toTokenUsage } from "./stream.ts";
import { createTransport, type Protocol, type Transport } from "./transport.ts";

/** Adapts a package to one provider type, for one request. */
export interface PackageAdapter extends Protocol {
	readonly memory: ProviderMemory;
	/** The package's model, which sends with `fetch`. Every value that the package would otherwise look up is given. */
	createModel(fetch: typeof globalThis.fetch): LanguageModelV3;
	/** The prompt, the tools and the settings, without signal and headers, which the transport adds. */
	readonly call: LanguageModelV3CallOptions;
	/** Why an empty answer ended, as text or as a complete failure; null when nothing is known. */
	whyEmpty(finish: FinishPart): string | ModelFailure | null;
}

export type PackageSettings = Pick<ModelSettings, "apiKey" | "customHeaders" | "timeouts" | "clock" | "network">;

/** The chunks of one answer, by the contract of `Model.stream`. */
export async function* streamFromPackage(
	settings: PackageSettings,
	adapt: (request: ModelRequest) => PackageAdapter,
	request: ModelRequest,
	signal: AbortSignal,
): AsyncGenerator<ModelChunk, void> {
	if (signal.aborted) return;
	let outcome: Answer | ModelFailure;
	try {
		outcome = yield* streamAnswer(settings, adapt(request), signal);
	} catch (thrown) {
		outcome = toModelFailure(thrown);
	}
	if (signal.aborted) return;
	if ("usage" in outcome) {
		yield { type: "done", ...outcome };
		return;
	}
	const redact = createRedaction([settings.apiKey, ...Object.values(settings.customHeaders)]);
	yield { type: "failed", failure: { ...outcome, message: redact(outcome.message) } };
}

type Answer = Omit<Extract<ModelChunk, { type: "done" }>, "type">;

async function* streamAnswer(
	settings: PackageSettings,
	adapter: PackageAdapter,
	signal: AbortSignal,
): AsyncGenerator<ModelChunk, Answer | ModelFailure> {
	const transport = createTransport(settings, adapter, signal);
	const reader = createPartReader(adapter.memory);
	try {
		yield* streamParts(adapter, reader, transport, signal);
	} catch (thrown) {
		return failureOf(transport) ?? toModelFailure(thrown);
	} finally {
		transport.close();
	}
	const { finish, messageId, isEmpty } = reader.answer;
	const failure = failureOf(transport);
	if (failure !== null) return failure;
	if (finish === null) return providerFailure("The provider ended the answer without saying how.");
	const reason = isEmpty ? adapter.whyEmpty(finish) : null;
	if (reason === null) return { usage: toTokenUsage(finish.usage), messageId };
	return typeof reason === "string" ? providerFailure(reason) : reason;
}

function providerFailure(message: string): ModelFailure {
	return createFailure("provider", message);
}

/** Ends with the stream, or with the end of the answer. */
async function* streamParts(
	adapter: PackageAdapter,
	reader: PartReader,
	transport: Transport,
	signal: AbortSignal,
): AsyncGenerator<ModelChunk, void> {
	const { stream } = await adapter.createModel(transport.fetch).doStream(adapter.call);
	for await (const part of readStream(stream)) {
		// A package may report the end of an interrupted stream as the end of the answer.
		if (part.type === "finish" && failureOf(transport) !== null) return;
		reader.read(part);
		if (signal.aborted) return;
		const parts = reader.take();
		if (parts.length > 0) yield { type: "parts", parts };
		if (reader.answer.finish !== null) return;
	}
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
		// Not awaited: a package may delay the end of its stream.
		reader.cancel().catch(() => {});
	}
}

function failureOf(transport: Transport): ModelFailure | null {
	const outcome = transport.outcome();
	return outcome.kind === "failed" ? outcome.failure : null;
}
