import type { ContentPart, TokenUsage, ToolCall } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { Sampling } from "../../api/values/turn-options.ts";

/** Model capabilities. `always_thinking` models cannot switch thinking off. */
export const capabilities = ["image_in", "video_in", "thinking", "always_thinking"] as const;
export type Capability = (typeof capabilities)[number];

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
	readonly sampling?: Sampling;
}

/** A streamed piece. A `tool_call_part` continues the arguments of the tool call right before it. */
export type ModelPart = ContentPart | ToolCall | ToolCallFragment;
export interface ToolCallFragment {
	readonly type: "tool_call_part";
	readonly arguments_part: string | null;
}

/** `overflow`: the context window is exceeded; `login`: sign in again; `defect`: a bug of ours or of a script. */
export interface ModelFailure {
	readonly kind: "connection" | "timeout" | "status" | "overflow" | "empty" | "provider" | "login" | "defect";
	readonly message: string;
	/** HTTP status: for the kinds `status`, `overflow` and `login`, and for `provider` if there was one. */
	readonly statusCode: number | null;
	/** The retry delay in milliseconds that the provider requests; null if none. */
	readonly retryAfter: number | null;
	/** The provider refuses this prompt, by its content filter or a refusal. */
	readonly isRefused?: true;
	/** A `provider` failure that may not happen again and is worth another try. */
	readonly isTransient?: true;
}

/** Why a complete response is not final: a token limit (`truncated`) or `paused`. `reason` is the provider's literal. */
export interface AnswerEnd {
	readonly kind: "truncated" | "paused";
	readonly reason: string;
}

/** A stream yields pieces in batches as they arrive, then exactly one `done` or `failed`. */
export type ModelChunk =
	| { readonly type: "parts"; readonly parts: readonly ModelPart[] }
	| {
			readonly type: "done";
			readonly usage: TokenUsage | null;
			readonly messageId: string | null;
			readonly end?: AnswerEnd;
			/** A line for the user about how the model was asked. */
			readonly notice?: string;
	  }
	| { readonly type: "failed"; readonly failure: ModelFailure };

export interface VideoFile {
	readonly bytes: Uint8Array;
	readonly mediaType: string;
	readonly name: string;
}

export type VideoUpload =
	/** The URL by which messages refer to it. */
	{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly failure: ModelFailure };

export interface Model {
	readonly name: string;
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<Capability>;
	/** Never throws: a failure is its last chunk. Reads only when pulled; after an abort it ends without a last chunk. */
	stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
	/** Uploads a video for use in messages. Absent if messages embed videos. Never rejects. */
	uploadVideo?(video: VideoFile, signal: AbortSignal): Promise<VideoUpload>;
	/** Prepares the first request in advance; sends nothing. Rejects if that fails. */
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

export function createRefusal(message: string): ModelFailure {
	return { ...createFailure("provider", message), isRefused: true };
}

export function modelFailure(...parts: Parameters<typeof createFailure>): Extract<ModelChunk, { type: "failed" }> {
	return { type: "failed", failure: createFailure(...parts) };
}
