import { splitOwnFlags } from "../own-flags.ts";

export interface ChatFlags {
	readonly plain: boolean;
	/** The session to continue; "last" means the last one in the work directory, null a new one. */
	readonly session: { readonly id: string } | "last" | null;
}

export const chatFlags = [
	{ names: ["--plain"], value: null, about: "Read and write plain lines, for screen readers and simple terminals." },
	{ names: ["--session", "-r"], value: "ID", about: "Continue this session." },
	{ names: ["--continue", "-C"], value: null, about: "Continue the last session of the work directory." },
] as const;

export function splitChatFlags(words: readonly string[]): {
	readonly chat: ChatFlags;
	readonly others: readonly string[];
} {
	const { has, last, others } = splitOwnFlags(words, chatFlags);
	const id = last("--session");
	const session = id !== null ? { id } : has("--continue") ? "last" : null;
	return { chat: { plain: has("--plain"), session }, others };
}
