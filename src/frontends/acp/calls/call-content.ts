import path from "node:path";
import type { DisplayBlock, ToolReturn } from "../../../api/values/content.ts";
import { toBlock } from "../content.ts";
import type { ToolContent } from "../wire-updates.ts";

export const textContent = (text: string): ToolContent => ({ type: "content", content: { type: "text", text } });

/** A fenced code block whose fence is longer than any fence in the text. */
export function codeContent(text: string): ToolContent {
	const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
	const fence = "`".repeat(longest + 1);
	return textContent(`${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`);
}

export function approvalContent(display: readonly DisplayBlock[], workDir: string): readonly ToolContent[] {
	return display.flatMap((block) => (block.type === "shell" ? [] : toContent(block, workDir)));
}

export function resultContent(result: ToolReturn, isCommand: boolean, workDir: string): readonly ToolContent[] {
	const diffs = result.display.flatMap((block) => (block.type === "diff" ? toContent(block, workDir) : []));
	if (diffs.length > 0 && !result.is_error) return diffs;
	if (typeof result.output !== "string")
		return result.output.map((part) => ({ type: "content", content: toBlock(part) }));
	const note = result.is_error || result.output === "" ? result.message : "";
	return [
		...(result.output === "" ? [] : [isCommand ? codeContent(result.output) : textContent(result.output)]),
		...(note === "" ? [] : [textContent(note)]),
	];
}

function toContent(block: DisplayBlock, workDir: string): readonly ToolContent[] {
	if ("data" in block) return [];
	switch (block.type) {
		case "brief":
			return block.text === "" ? [] : [textContent(block.text)];
		case "diff": {
			const file = path.resolve(workDir, block.path);
			if (block.is_summary) return [textContent(`${file}: ${block.old_text} → ${block.new_text}`)];
			const oldText = block.old_text === "" ? null : block.old_text;
			return [{ type: "diff", path: file, oldText, newText: block.new_text }];
		}
		case "shell":
			return [codeContent(block.command)];
		case "background_task":
			return [textContent(`${block.description} (${block.task_id}: ${block.status})`)];
		case "todo":
			return [];
	}
	return [];
}
