// What an embedder passes to `createAgent`, in types that stand for themselves: the package's declarations are made from them.
import type { KernelOptions } from "./client/client.ts";
import type { ContentCompletedEvent } from "./client/protocol-types.ts";
import type { SessionRecords } from "./ports/store/session-records.ts";

export type { ListedSession, SessionRecords } from "./ports/store/session-records.ts";

export interface AgentOptions extends KernelOptions {
	/** The absolute path of the directory for sessions, settings and logs. */
	readonly home: string;
	/** The directory that stands for `~`, where the user's skills and rules are looked for. Default: `home`. */
	readonly userHome?: string;
	/** The absolute path of the work directory for sessions that name none. Default: `home`. */
	readonly workDir?: string;
	/** The settings, as an object shaped like config.toml or as its text. Default: config.toml in `home`. */
	readonly settings?: string | Readonly<Record<string, unknown>>;
	/** The environment of commands, hooks and MCP servers, and the source of provider keys. Default: this process's. */
	readonly environment?: Readonly<Record<string, string>>;
	/** `memory` stores nothing; or your own store. Default: as in the settings, else the disk. */
	readonly store?: "memory" | SessionRecords;
	/** Your own models, by the alias under which sessions choose them. The first is the default if no other is set. */
	readonly models?: Readonly<Record<string, Model>>;
	/** Called with notices for people, such as the trace of a scripted model. Default: dropped. */
	readonly onNotice?: (text: string) => void;
}

export type ContentPart = ContentCompletedEvent["part"];

/** `arguments` is JSON text; null when the model gave none. */
export interface ModelToolCall {
	readonly type: "function";
	readonly id: string;
	readonly function: { readonly name: string; readonly arguments: string | null };
	/** Data to return to the provider with the call. */
	readonly extras: Readonly<Record<string, unknown>> | null;
}

export interface ModelMessage {
	readonly role: "user" | "assistant" | "tool" | "system";
	readonly content: readonly ContentPart[];
	/** Only on assistant messages with tool calls. */
	readonly toolCalls?: readonly ModelToolCall[];
	/** Only on tool messages: the call that this answers. */
	readonly toolCallId?: string;
	readonly name?: string;
}

export interface ModelRequest {
	readonly systemPrompt: string;
	readonly tools: readonly {
		readonly name: string;
		readonly description: string;
		/** JSON Schema of an object. */
		readonly parameters: Readonly<Record<string, unknown>>;
	}[];
	readonly messages: readonly ModelMessage[];
	/** Stable for a session, for providers that cache prompts by key. */
	readonly cacheKey: string;
}

/** A streamed piece. A `tool_call_part` continues the arguments of the tool call right before it. */
export type ModelPart =
	| ContentPart
	| ModelToolCall
	| { readonly type: "tool_call_part"; readonly arguments_part: string | null };

/** A stream yields batches of pieces as they arrive, then exactly one `done` or `failed`. */
export type ModelChunk =
	| { readonly type: "parts"; readonly parts: readonly ModelPart[] }
	| {
			readonly type: "done";
			/** Tokens. The three counts of the input do not overlap. */
			readonly usage: {
				readonly input_other: number;
				readonly input_cache_read: number;
				readonly input_cache_creation: number;
				readonly output: number;
			} | null;
			readonly messageId: string | null;
			/**
			 * Absent if the model finished. `truncated`: it reached the token limit. `paused`: it continues once the answer is sent
			 * back. `reason` is the provider's word.
			 */
			readonly end?: { readonly kind: "truncated" | "paused"; readonly reason: string };
	  }
	| {
			readonly type: "failed";
			readonly failure: {
				/** `overflow`: the request exceeds the context window. `login`: a person has to sign in again. */
				readonly kind: "connection" | "timeout" | "status" | "overflow" | "empty" | "provider" | "login" | "defect";
				readonly message: string;
				readonly statusCode: number | null;
				/** Milliseconds before a retry, where the provider requests a wait. */
				readonly retryAfter: number | null;
			};
	  };

export interface Model {
	/** The name shown in errors. */
	readonly name: string;
	/** Tokens of its context window. */
	readonly maxContextSize: number;
	readonly capabilities: ReadonlySet<"image_in" | "video_in" | "thinking" | "always_thinking">;
	/**
	 * Sends one request. The stream never throws: a failure is its last chunk. It is pulled; after an abort it ends soon,
	 * without a last chunk.
	 */
	stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
}
