// Parses the words after the command `chat`: its own flags, among those of the program.
import { splitOwnFlags } from "../own-flags.ts";

export interface ChatFlags {
	/** Whether it reads and writes lines instead of drawing a screen. */
	readonly plain: boolean;
	/** The session to continue, or the last one of the work directory; null for a new one. */
	readonly session: { readonly id: string } | "last" | null;
}

export const chatFlags = [
	{ names: ["--plain"], value: null, about: "Read and write plain lines, for screen readers and simple terminals." },
	{ names: ["--session", "-r"], value: "ID", about: "Continue this session." },
	{ names: ["--continue", "-C"], value: null, about: "Continue the last session of the work directory." },
] as const;

/** The chat's flags, and the other words, which are flags of the program. Throws UsageError. */
export function splitChatFlags(words: readonly string[]): {
	readonly chat: ChatFlags;
	readonly others: readonly string[];
} {
	const { has, last, others } = splitOwnFlags(words, chatFlags);
	const id = last("--session");
	const session = id !== null ? { id } : has("--continue") ? "last" : null;
	return { chat: { plain: has("--plain"), session }, others };
}
