// The contract every model provider fulfils. Types and small helpers only; no provider is named here.
import type { ContentPart, TokenUsage, ToolCall } from "../events/content.ts";
import type { HistoryEntry } from "../events/conversation.ts";

/** What a model can take in or do. `always_thinking` models cannot switch thinking off. */
export const capabilities = ["image_in", "video_in", "thinking", "always_thinking"] as const;
export type Capability = (typeof capabilities)[number];

/** A tool as offered to a model: `parameters` is a JSON Schema object. */
export interface ToolSpecification {
	readonly name: string;
	readonly description: string;
	readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
	readonly systemPrompt: string;
	readonly tools: readonly ToolSpecification[];
	readonly messages: readonly HistoryEntry[];
	/** Stable for a session: providers that cache prompts by key use it. */
	readonly cacheKey: string;
	/** Tokens of the conversation as last counted by the provider; absent while nothing was counted. */
	readonly knownTokens?: number;
}

/** A streamed piece. A `tool_call_part` continues the arguments of the tool call right before it. */
export type ModelPart = ContentPart | ToolCall | ToolCallFragment;
export interface ToolCallFragment {
	readonly type: "tool_call_part";
	readonly arguments_part: string | null;
}

/**
 * Why a request failed. `overflow`: it is too long for the model's window. `login`: whoever uses the provider has to sign
 * in again. `defect` is a fault of ours or of a script, not of the provider.
 */
export interface ModelFailure {
	readonly kind: "connection" | "timeout" | "status" | "overflow" | "empty" | "provider" | "login" | "defect";
	/** The provider's own words, without keys or tokens. */
	readonly message: string;
	/** HTTP status: for the kinds `status`, `overflow` and `login`, and for `provider` where there was one. */
	readonly statusCode: number | null;
	/** Milliseconds that the provider asks to wait before another attempt; null when it does not say. */
	readonly retryAfter: number | null;
}

/** What a stream yields: pieces in batches as they arrive, then exactly one `done` or `failed`. */
export type ModelChunk =
	| { readonly type: "parts"; readonly parts: readonly ModelPart[] }
	| { readonly type: "done"; readonly usage: TokenUsage | null; readonly messageId: string | null }
	| { readonly type: "failed"; readonly failure: ModelFailure };

/** A video on its way to a provider. */
export interface VideoFile {
	readonly bytes: Uint8Array;
	readonly mediaType: string;
	/** The name of its file. */
	readonly name: string;
}

export type VideoUpload =
	/** The URL by which messages refer to it. */
	{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly failure: ModelFailure };

export interface Model {
	/** The name the provider knows, as shown in errors. */
	readonly name: string;
	/** Size of the context window in tokens. */
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
	/**
	 * One request. The stream never throws: a failure is its last chunk. It is pulled: while nobody asks for the
	 * next chunk, nothing more is read from the provider. After an abort it ends soon, without a last chunk.
	 */
	stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
	/** Hands over a video that messages then refer to. Absent where messages carry videos themselves. Never rejects. */
	uploadVideo?(video: VideoFile, signal: AbortSignal): Promise<VideoUpload>;
	/** Does ahead of the first request what it would have to wait for; sends nothing. Rejects when that fails. */
	warmUp?(): Promise<void>;
}

export function createFailure(
	kind: ModelFailure["kind"],
	message: string,
	statusCode: number | null = null,
	retryAfter: number | null = null,
): ModelFailure {
	return { kind, message, statusCode, retryAfter };
}

/** The last chunk of a stream that failed. */
export function modelFailure(...parts: Parameters<typeof createFailure>): Extract<ModelChunk, { type: "failed" }> {
	return { type: "failed", failure: createFailure(...parts) };
}
