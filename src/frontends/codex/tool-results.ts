import path from "node:path";
import { type DiffBlock, type DisplayBlock, joinTexts, type Todo, type ToolReturn } from "../../api/values/content.ts";
import type { ReadCall } from "./tool-names.ts";

const isDiff = (block: DisplayBlock): block is DiffBlock => block.type === "diff" && "old_text" in block;
type TodoBlock = Extract<DisplayBlock, { items: unknown }>;
const isTodo = (block: DisplayBlock): block is TodoBlock => block.type === "todo" && "items" in block;

/** For a failure without output, its message. */
export function outputText({ output, message, is_error }: ToolReturn): string {
	const text = typeof output === "string" ? output : joinTexts(output, "\n");
	return text === "" && is_error ? message : text;
}

/** Null if it ended without one, for example when refused. */
export function exitCode({ is_error, message }: ToolReturn): number | null {
	if (!is_error) return 0;
	const code = /\bexit code: (\d+)/.exec(message)?.[1];
	return code === undefined ? null : Number(code);
}

export interface FileChange {
	/** Absolute. */
	readonly path: string;
	readonly kind: "add" | "update";
	readonly blocks: readonly DiffBlock[];
}

/** Each call changes one file. */
export function fileChange(call: ReadCall, display: readonly DisplayBlock[], workDir: string): FileChange {
	const blocks = display.filter(isDiff);
	const isNew = call.name === "WriteFile" && blocks.length > 0 && blocks.every(({ old_text }) => old_text === "");
	return { path: path.resolve(workDir, call.text("path")), kind: isNew ? "add" : "update", blocks };
}

export function todosOf({ display }: ToolReturn): readonly Todo[] | null {
	return display.find(isTodo)?.items ?? null;
}
