// File changes for display: paths relative to the working directory, added and removed lines, diffs.
import path from "node:path";
import { TextDecoder } from "node:util";
import type { DiffBlock } from "../../api/values/content.ts";
import type { FilePlan, RecordedChanges } from "../../api/values/file-changes.ts";
import { createDiffBlocks } from "../../core/tools/files/diff-blocks.ts";
import type { Entry } from "../../ports/workspace/entry.ts";
import type { FileHistory, PlannedPath, RecordView, RestorePlan } from "../../ports/workspace/file-history.ts";

type Lines = FilePlan["files"][number]["lines"];

/** Maximum bytes of a file for a line comparison. */
const comparedSize = 1024 * 1024;

export function shownPath(workDir: string, target: string): string {
	return target.startsWith(workDir + path.sep) ? target.slice(workDir.length + 1) : target;
}

export async function showRecord(record: RecordView, workDir: string, history: FileHistory): Promise<RecordedChanges> {
	const files: RecordedChanges["files"] = [];
	for (const { path: target, before, after } of record.paths) {
		const change = before === null ? "added" : after === null ? "deleted" : "modified";
		files.push({ path: shownPath(workDir, target), change, lines: await countLines(before, after, history) });
	}
	const { id, of: kind, at, complete, reasons } = record;
	return { id, kind, at, complete, reasons: [...reasons], files };
}

export async function showPlan(plan: RestorePlan, workDir: string, history: FileHistory): Promise<FilePlan> {
	const files: FilePlan["files"] = [];
	for (const planned of plan.paths) {
		const lines = await countLines(planned.now, planned.target, history);
		files.push({
			path: shownPath(workDir, planned.path),
			action: toAction(planned),
			lines,
			conflict: planned.isConflict,
		});
	}
	const uncovered = plan.uncovered.map(({ path: target, reason }) => ({ path: shownPath(workDir, target), reason }));
	const outside = plan.outside.map((target) => shownPath(workDir, target));
	return { files, uncovered, outside, reasons: [...plan.reasons] };
}

function toAction({ now, target }: PlannedPath): FilePlan["files"][number]["action"] {
	if (now === null) return "create";
	return target === null ? "delete" : "change";
}

/** Returns the diff; null for non-text or entries too long to compare. */
export async function compareEntries(
	name: string,
	before: Entry | null,
	after: Entry | null,
	history: FileHistory,
): Promise<readonly DiffBlock[] | null> {
	const [old, now] = [await textOf(before, history), await textOf(after, history)];
	return old === null || now === null ? null : await createDiffBlocks(name, old, now);
}

async function countLines(before: Entry | null, after: Entry | null, history: FileHistory): Promise<Lines> {
	const blocks = await compareEntries("", before, after, history);
	if (blocks === null || blocks.some(({ is_summary }) => is_summary)) return null;
	let [added, removed] = [0, 0];
	const { diffArrays } = await import("diff");
	for (const { old_text, new_text } of blocks) {
		for (const part of diffArrays(toLines(old_text), toLines(new_text))) {
			if (part.added) added += part.value.length;
			else if (part.removed) removed += part.value.length;
		}
	}
	return { added, removed };
}

function toLines(text: string): string[] {
	return text === "" ? [] : text.split("\n");
}

/** File text or link target. Empty for missing entries and directories; null for non-text. */
async function textOf(entry: Entry | null, history: FileHistory): Promise<string | null> {
	if (entry === null || entry.kind === "directory") return "";
	if (entry.kind === "link") return `${entry.target}\n`;
	if (entry.kind !== "file" || entry.size > comparedSize) return null;
	const bytes = await history.content(entry);
	if (bytes === null || bytes.includes(0)) return null;
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		return null;
	}
}
