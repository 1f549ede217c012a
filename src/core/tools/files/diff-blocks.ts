import type { DiffBlock } from "../../../api/values/content.ts";
import { createPace } from "../../../base/pace.ts";

const contextLines = 3;
/** Maximum lines per side; longer texts only get a summary. */
const lineLimit = 10_000;
/** Maximum total characters of the blocks; longer diffs only get a summary. */
const textLimit = 1024 * 1024;
/** Milliseconds to find a minimal diff; after that, everything from the first to the last change counts as one change. */
const timeLimit = 100;

/** Replaces lines `oldStart` to `oldEnd` with `newStart` to `newEnd`; zero-based, ends exclusive. */
interface Change {
	readonly oldStart: number;
	readonly oldEnd: number;
	readonly newStart: number;
	readonly newEnd: number;
}

function splitLines(text: string): string[] {
	if (text === "") return [];
	return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

async function countLines(text: string): Promise<number> {
	const pace = createPace();
	let count = text === "" || text.endsWith("\n") ? 0 : 1;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
		count += 1;
		if (count % lineLimit === 0) await pace.rest();
	}
	return count;
}

function outermostChange(oldLines: readonly string[], newLines: readonly string[]): Change {
	const shorter = Math.min(oldLines.length, newLines.length);
	let start = 0;
	while (start < shorter && oldLines[start] === newLines[start]) start += 1;
	let tail = 0;
	while (tail < shorter - start && oldLines[oldLines.length - 1 - tail] === newLines[newLines.length - 1 - tail])
		tail += 1;
	return { oldStart: start, oldEnd: oldLines.length - tail, newStart: start, newEnd: newLines.length - tail };
}

/** Maps each line to a number, so that comparisons are fast for long lines too. */
function toNumbers(lines: readonly string[], numbers: Map<string, number>): number[] {
	return lines.map((line) => {
		const number = numbers.get(line) ?? numbers.size;
		numbers.set(line, number);
		return number;
	});
}

async function findChanges(oldLines: readonly string[], newLines: readonly string[]): Promise<Change[]> {
	const outermost = outermostChange(oldLines, newLines);
	if (outermost.oldStart === outermost.oldEnd && outermost.newStart === outermost.newEnd) return [];
	const { diffArrays } = await import("diff");
	const numbers = new Map<string, number>();
	const parts = diffArrays(
		toNumbers(oldLines.slice(outermost.oldStart, outermost.oldEnd), numbers),
		toNumbers(newLines.slice(outermost.newStart, outermost.newEnd), numbers),
		{ timeout: timeLimit },
	);
	if (parts === undefined) return [outermost];
	const changes: Change[] = [];
	let oldAt = outermost.oldStart;
	let newAt = outermost.newStart;
	for (const part of parts) {
		const oldEnd = part.added ? oldAt : oldAt + part.value.length;
		const newEnd = part.removed ? newAt : newAt + part.value.length;
		if (part.added || part.removed) {
			const before = changes.at(-1);
			const touches = before !== undefined && before.oldEnd === oldAt && before.newEnd === newAt;
			const start = touches ? before : { oldStart: oldAt, newStart: newAt };
			if (touches) changes.pop();
			changes.push({ oldStart: start.oldStart, oldEnd, newStart: start.newStart, newEnd });
		}
		oldAt = oldEnd;
		newAt = newEnd;
	}
	return changes;
}

function toHunks(changes: readonly Change[]): Change[] {
	const hunks: Change[] = [];
	for (const change of changes) {
		const before = hunks.at(-1);
		if (before !== undefined && change.oldStart - before.oldEnd <= 2 * contextLines) {
			hunks[hunks.length - 1] = { ...before, oldEnd: change.oldEnd, newEnd: change.newEnd };
		} else {
			hunks.push(change);
		}
	}
	return hunks;
}

/** Shows an added or removed final newline when no hunk covers the last lines. */
function lastLineBlock(path: string, oldLines: readonly string[], newLines: readonly string[], ends: Ends): DiffBlock {
	const last = oldLines.at(-1) ?? "";
	return {
		type: "diff",
		path,
		old_text: `${last}${ends.old}`,
		new_text: `${last}${ends.new}`,
		old_start: Math.max(1, oldLines.length),
		new_start: Math.max(1, newLines.length),
		is_summary: false,
	};
}

/** The text after the last line on each side, where it differs; absent for a text without lines. */
interface Ends {
	readonly old: "" | "\n";
	readonly new: "" | "\n";
}

function findEnds(oldText: string, newText: string): Ends | null {
	// These texts differ only in their blank line.
	if (oldText + newText === "\n") return { old: oldText === "" ? "" : "\n", new: newText === "" ? "" : "\n" };
	if (oldText === "" || newText === "" || oldText.endsWith("\n") === newText.endsWith("\n")) return null;
	return oldText.endsWith("\n") ? { old: "\n", new: "" } : { old: "", new: "\n" };
}

function toBlocks(
	path: string,
	hunks: readonly Change[],
	oldLines: readonly string[],
	newLines: readonly string[],
	ends: Ends | null,
): DiffBlock[] {
	const blocks = hunks.map((hunk) => toBlock(path, hunk, oldLines, newLines));
	if (ends === null) return blocks;
	const [hunk] = hunks.slice(-1);
	const [block] = blocks.slice(-1);
	const reachesEnd = hunk !== undefined && oldLines.length - hunk.oldEnd <= contextLines;
	if (block === undefined || !reachesEnd) return [...blocks, lastLineBlock(path, oldLines, newLines, ends)];
	const last = { ...block, old_text: `${block.old_text}${ends.old}`, new_text: `${block.new_text}${ends.new}` };
	return [...blocks.slice(0, -1), last];
}

/** Block texts have no final newline, unless only one side has it; starts count from 1. */
export async function createDiffBlocks(path: string, oldText: string, newText: string): Promise<DiffBlock[]> {
	if (oldText === newText) return [];
	const counts = [await countLines(oldText), await countLines(newText)] as const;
	if (Math.max(...counts) > lineLimit) return [summary(path, counts)];
	const oldLines = splitLines(oldText);
	const newLines = splitLines(newText);
	const hunks = toHunks(await findChanges(oldLines, newLines));
	const blocks = toBlocks(path, hunks, oldLines, newLines, findEnds(oldText, newText));
	const length = blocks.reduce((sum, { old_text, new_text }) => sum + old_text.length + new_text.length, 0);
	return length > textLimit ? [summary(path, counts)] : blocks;
}

function toBlock(path: string, hunk: Change, oldLines: readonly string[], newLines: readonly string[]): DiffBlock {
	const before = Math.min(contextLines, hunk.oldStart);
	const after = Math.min(contextLines, oldLines.length - hunk.oldEnd);
	return {
		type: "diff",
		path,
		old_text: oldLines.slice(hunk.oldStart - before, hunk.oldEnd + after).join("\n"),
		new_text: newLines.slice(hunk.newStart - before, hunk.newEnd + after).join("\n"),
		old_start: hunk.oldStart - before + 1,
		new_start: hunk.newStart - before + 1,
		is_summary: false,
	};
}

function summary(path: string, [oldCount, newCount]: readonly [number, number]): DiffBlock {
	const [old_text, new_text] = [`${oldCount} lines`, `${newCount} lines`];
	return { type: "diff", path, old_text, new_text, old_start: 1, new_start: 1, is_summary: true };
}
