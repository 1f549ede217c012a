import path from "node:path";
import type { ContextChange, ContextRow } from "../../../../api/values/conversation.ts";
import type { Log } from "../../../../base/log.ts";
import type { FileReader, Files } from "../../../files/port.ts";
import { fromLine, toLine } from "../../context-row.ts";
import { parseLines } from "./json-lines.ts";
import type { LineFile } from "./line-file.ts";

/** Parses rows on first use: a read-only client need not wait. Skips, counts and logs invalid lines. */
export async function readContext(files: FileReader, file: string, log: Log): Promise<() => readonly ContextRow[]> {
	let bytes = await files.read(file);
	let rows: readonly ContextRow[] | null = null;
	return () => {
		rows ??= parseContext(bytes ?? Buffer.alloc(0), file, log);
		bytes = null;
		return rows;
	};
}

export function parseContext(bytes: Buffer, file: string, log: Log): readonly ContextRow[] {
	const lines = parseLines(bytes);
	const rows = lines.map(fromLine).filter((row) => row !== null);
	const skipped = lines.length - rows.length;
	if (skipped > 0) log.warn("lines of the context log could not be read", { path: file, skipped });
	return rows;
}

export interface ContextLog {
	/** Whether the context has rows but no system prompt. */
	lacksPrompt(): boolean;
	/** Appends rows, or replaces all and keeps a copy (`context_1.jsonl`, …). A late system prompt goes first. */
	change(change: ContextChange): Promise<void>;
}

export interface ContextLogOptions {
	readonly files: Files;
	readonly path: string;
	readonly lines: LineFile;
	opened(): readonly ContextRow[];
	/** Whether a replaced context is synced at once; default true. */
	readonly syncs?: boolean;
}

export function createContextLog({ files, path: file, lines, opened, syncs = true }: ContextLogOptions): ContextLog {
	let known: boolean | null = null;
	const lacksPrompt = (): boolean => {
		known ??= isWithoutPrompt(opened());
		return known;
	};

	const append = async (rows: readonly ContextRow[]): Promise<void> => {
		const [first, ...others] = rows;
		if (lacksPrompt() && first?.type === "system-prompt") {
			await lines.prepend(toLine(first));
			known = false;
			await lines.append(others.map(toLine));
			return;
		}
		await lines.append(rows.map(toLine));
	};
	const replace = async (rows: readonly ContextRow[]): Promise<void> => {
		await lines.rotate(rows.map(toLine), () => freeRotation(file, files), syncs);
		known = isWithoutPrompt(rows);
	};

	return {
		lacksPrompt,
		change: ({ kind, rows }) => (kind === "append" ? append(rows) : replace(rows)),
	};
}

function isWithoutPrompt(rows: readonly ContextRow[]): boolean {
	return rows.length > 0 && !rows.some((row) => row.type === "system-prompt");
}

/** Returns the first unused path for a rotated log: `context_1.jsonl`, `context_2.jsonl` and so on. */
async function freeRotation(file: string, files: Files): Promise<string> {
	const { dir, name, ext } = path.parse(file);
	for (let count = 1; ; count += 1) {
		const rotation = path.join(dir, `${name}_${count}${ext}`);
		if ((await files.status(rotation)) === null) return rotation;
	}
}
