// The contract of every model provider: types and small helpers.
import type { ContentPart, TokenUsage, ToolCall } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { Sampling } from "../../api/values/turn-options.ts";

/** What a model can accept or do. `always_thinking` models cannot switch thinking off. */
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
	/** Stable for a session, for providers that cache prompts by key. */
	readonly cacheKey: string;
	/** Tokens of the conversation as last counted by the provider; absent before the first count. */
	readonly knownTokens?: number;
	/** In place of the settings of the model. */
	readonly sampling?: Sampling;
}

/** A streamed piece. A `tool_call_part` continues the arguments of the tool call right before it. */
export type ModelPart = ContentPart | ToolCall | ToolCallFragment;
export interface ToolCallFragment {
	readonly type: "tool_call_part";
	readonly arguments_part: string | null;
}

/**
 * Why a request failed. `overflow`: it exceeds the model's context window. `login`: a person has to sign in to the
 * provider again. `defect` is a bug of ours or of a script, not of the provider.
 */
export interface ModelFailure {
	readonly kind: "connection" | "timeout" | "status" | "overflow" | "empty" | "provider" | "login" | "defect";
	/** The provider's own message, without keys or tokens. */
	readonly message: string;
	/** HTTP status: for the kinds `status`, `overflow` and `login`, and for `provider` where there was one. */
	readonly statusCode: number | null;
	/** The wait in milliseconds before a retry that the provider requests; null when it requests none. */
	readonly retryAfter: number | null;
	/** The provider will not answer this prompt: its content filter, or a refusal. */
	readonly isRefused?: true;
	/** A `provider` failure that the provider reports as its own and that may not happen again: worth another try. */
	readonly isTransient?: true;
}

/**
 * Why an answer that arrived in full is not the model's last word: it reached the limit of tokens (`truncated`), or the
 * provider paused it and wants it back to go on (`paused`). `reason` is the provider's literal, such as `max_tokens`.
 */
export interface AnswerEnd {
	readonly kind: "truncated" | "paused";
	readonly reason: string;
}

/** What a stream yields: pieces in batches as they arrive, then exactly one `done` or `failed`. */
export type ModelChunk =
	| { readonly type: "parts"; readonly parts: readonly ModelPart[] }
	| {
			readonly type: "done";
			readonly usage: TokenUsage | null;
			readonly messageId: string | null;
			/** Absent when the model had finished. */
			readonly end?: AnswerEnd;
			/** A line for the person, about how the model was asked. */
			readonly notice?: string;
	  }
	| { readonly type: "failed"; readonly failure: ModelFailure };

/** A video to upload. */
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
	/** The name sent to the provider, as shown in errors. */
	readonly name: string;
	/** Size of the context window in tokens. */
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
	/**
	 * Sends one request. The stream never throws: a failure is its last chunk. It is pulled: while nobody requests the
	 * next chunk, nothing more is read from the provider. After an abort it ends soon, without a last chunk.
	 */
	stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
	/** Uploads a video that messages then refer to. Absent where messages carry videos themselves. Never rejects. */
	uploadVideo?(video: VideoFile, signal: AbortSignal): Promise<VideoUpload>;
	/** Prepares what the first request would have to wait for; sends nothing. Rejects when that fails. */
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

/** The failure of a request that the provider will not answer. */
export function createRefusal(message: string): ModelFailure {
	return { ...createFailure("provider", message), isRefused: true };
}

/** The last chunk of a stream that failed. */
export function modelFailure(...parts: Parameters<typeof createFailure>): Extract<ModelChunk, { type: "failed" }> {
	return { type: "failed", failure: createFailure(...parts) };
}
