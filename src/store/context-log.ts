// The context log of a session, `context.jsonl`: its rows as read when opened, and appending to it.
import type { Log } from "../base/log.ts";
import type { ContextRow } from "../events/conversation.ts";
import type { Files } from "../files/port.ts";
import { fromLine, toLine } from "./context-row.ts";
import { type LineFile, readLines } from "./line-file.ts";

/** Reads as far as it goes: lines that are no rows are skipped, counted and logged, and stay in the file. */
export async function readContext(files: Files, path: string, log: Log): Promise<ContextRow[]> {
	const rows: ContextRow[] = [];
	let skipped = 0;
	for await (const line of readLines(files, path)) {
		const row = fromLine(line);
		if (row === null) skipped += 1;
		else rows.push(row);
	}
	if (skipped > 0) log.warn("lines of the context log could not be read", { path, skipped });
	return rows;
}

export interface ContextLog {
	/**
	 * Appends the rows with one write. A system prompt for a context that has rows but none such goes before them:
	 * logs of old versions lack it, and readers look for it in front.
	 */
	append(rows: readonly ContextRow[]): Promise<void>;
}

/** `opened` are the rows that were in the file before. */
export function createContextLog(lines: LineFile, opened: readonly ContextRow[]): ContextLog {
	let lacksPrompt = opened.length > 0 && !opened.some((row) => row.type === "system-prompt");

	return {
		async append(rows) {
			const [first, ...others] = rows;
			if (lacksPrompt && first?.type === "system-prompt") {
				await lines.prepend(toLine(first));
				lacksPrompt = false;
				await lines.append(others.map(toLine));
				return;
			}
			await lines.append(rows.map(toLine));
		},
	};
}
