// The model's side of a session: messages and the rows of the context log that carries them.
import type { ContentPart, ToolCall } from "./content.ts";

export type MessageRole = "user" | "assistant" | "tool" | "system";

/** One message of the conversation as a model sees it. */
export interface HistoryEntry {
	readonly role: MessageRole;
	readonly content: readonly ContentPart[];
	/** Only on assistant messages that asked for tools. */
	readonly toolCalls?: readonly ToolCall[];
	/** Only on tool messages: the call this answers. */
	readonly toolCallId?: string;
	readonly name?: string;
}

/** A row of the context log. Token counts are those of the whole context so far. */
export type ContextRow =
	| { readonly type: "system-prompt"; readonly content: string }
	| { readonly type: "checkpoint"; readonly id: number }
	| { readonly type: "usage"; readonly tokenCount: number }
	| { readonly type: "message"; readonly message: HistoryEntry };
