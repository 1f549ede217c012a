// Which of the agent's tools the vocabulary of Codex has an item for, and what of their arguments it shows.
import { decodeArguments } from "../../api/values/call-arguments.ts";
import type { ToolCall } from "../../api/values/content.ts";
import { isRecord } from "../../base/json.ts";

/** Tools without an item of their own are shown as tools of a server of this name. */
export const ownServer = "agentwire";

export type CallKind = "command" | "file-change" | "web-search" | "todo" | "other";

const kinds: Readonly<Record<string, CallKind>> = {
	Shell: "command",
	WriteFile: "file-change",
	StrReplaceFile: "file-change",
	SearchWeb: "web-search",
	SetTodoList: "todo",
};

/** A tool call, read once. */
export interface ReadCall {
	readonly name: string;
	readonly kind: CallKind;
	/** Arguments that are no JSON stay text. */
	readonly given: unknown;
	/** A text among the arguments; empty when there is none. */
	text(member: string): string;
}

export function readCall({ function: { name, arguments: json } }: ToolCall): ReadCall {
	const decoded = decodeArguments(json);
	const given = decoded.ok ? decoded.value : (json ?? "");
	return {
		name,
		kind: Object.hasOwn(kinds, name) ? (kinds[name] ?? "other") : "other",
		given,
		text(member) {
			const value = isRecord(given) ? given[member] : undefined;
			return typeof value === "string" ? value : "";
		},
	};
}
