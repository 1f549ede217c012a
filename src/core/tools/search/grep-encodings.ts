// ripgrep only supports UTF-8 and UTF-16 with a byte order mark, so other lines are decoded again.

import { decodeTextFile } from "../files/text-file.ts";
import { unlessTooLarge } from "../files/workspace-content.ts";
import type { ToolEnvironment } from "../tool.ts";
import { contentLine, type GrepEntry } from "./grep-output.ts";

const mostFiles = 50;
/** Maximum size in bytes of a file to read again. */
const fileLimit = 8 * 1024 * 1024;
const replacement = "\ufffd";

export interface DecodedEntries {
	readonly entries: readonly GrepEntry[];
	readonly isChanged: boolean;
}

export async function inOwnEncodings(
	entries: readonly GrepEntry[],
	{ files }: Pick<ToolEnvironment, "files">,
): Promise<DecodedEntries> {
	let read = 0;
	let isChanged = false;
	const decoded: GrepEntry[] = [];
	for (const entry of entries) {
		const isForeign = read < mostFiles && entry.lines.some((line) => line.includes(replacement));
		const texts = isForeign ? await linesOf(entry.path, files) : null;
		if (isForeign) read += 1;
		if (texts === null) decoded.push(entry);
		else {
			isChanged = true;
			decoded.push({ ...entry, lines: entry.lines.map((line) => withText(line, texts)) });
		}
	}
	return { entries: decoded, isChanged };
}

async function linesOf(path: string, files: ToolEnvironment["files"]): Promise<readonly string[] | null> {
	const bytes = await unlessTooLarge(files.read(path, fileLimit)).catch(() => null);
	if (bytes === null || bytes === "too-large") return null;
	const file = await decodeTextFile(bytes);
	return file === null || file.encoding === "utf-8" ? null : file.text.split("\n");
}

function withText(line: string, texts: readonly string[]): string {
	const parts = contentLine(line);
	const text = parts === null || !parts.text.includes(replacement) ? undefined : texts[parts.number - 1];
	return text === undefined ? line : line.slice(0, parts?.start) + text;
}
