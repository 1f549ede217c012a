// Maps tools to items of the Codex vocabulary, with the arguments that it shows.
import { decodeArguments } from "../../api/values/call-arguments.ts";
import type { ToolCall } from "../../api/values/content.ts";
import { isRecord } from "../../base/json.ts";

/** Tools without their own item type are shown as tools of this server. */
export const ownServer = "agentwire";

export type CallKind = "command" | "file-change" | "web-search" | "todo" | "other";

const kinds: Readonly<Record<string, CallKind>> = {
	Shell: "command",
	WriteFile: "file-change",
	StrReplaceFile: "file-change",
	SearchWeb: "web-search",
	SetTodoList: "todo",
};

export interface ReadCall {
	readonly name: string;
	readonly kind: CallKind;
	/** Invalid JSON stays text. */
	readonly given: unknown;
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
