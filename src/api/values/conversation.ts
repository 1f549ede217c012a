// The message history of a session and the rows of the context log that store it.
import type { ContentPart, ToolCall } from "./content.ts";

export type MessageRole = "user" | "assistant" | "tool" | "system";

/** A message as the model sees it. */
export interface HistoryEntry {
	readonly role: MessageRole;
	readonly content: readonly ContentPart[];
	/** Only on assistant messages with tool calls. */
	readonly toolCalls?: readonly ToolCall[];
	/** Only on tool messages: the call this answers. */
	readonly toolCallId?: string;
	readonly name?: string;
}

/** A row of the context log. Token counts cover the whole context so far. */
export type ContextRow =
	| { readonly type: "system-prompt"; readonly content: string }
	| { readonly type: "checkpoint"; readonly id: number }
	| { readonly type: "usage"; readonly tokenCount: number }
	| { readonly type: "message"; readonly message: HistoryEntry };

/** A change of the model's context. */
export type ContextChange =
	| { readonly kind: "append"; readonly rows: readonly ContextRow[] }
	/** Replaces all rows; the disk store keeps a copy of the old ones. */
	| { readonly kind: "replace"; readonly rows: readonly ContextRow[] };
