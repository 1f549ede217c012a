import type { Files } from "../../files/port.ts";

const newline = 0x0a;

/** Adds the text after a blank line; the directory must exist. */
export async function appendParagraph(files: Files, file: string, text: string): Promise<void> {
	const separator = await separatorFor(files, file);
	const opened = await files.openAppend(file);
	try {
		await opened.append(`${separator}${text}`);
	} finally {
		await opened.close();
	}
}

async function separatorFor(files: Files, file: string): Promise<string> {
	const size = (await files.status(file))?.size ?? 0;
	if (size === 0) return "";
	const last = await files.readRange(file, size - 1, 1);
	return last?.[0] === newline ? "\n" : "\n\n";
}
