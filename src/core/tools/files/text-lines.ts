import { beginning } from "../../../base/text/well-formed.ts";
import type { Decoder } from "./encodings.ts";

export interface TextLine {
	/** Without the newline or CR LF. */
	readonly text: string;
	readonly isCut: boolean;
	/** Whether it ends with a newline; only the last line may not. */
	readonly isEnded: boolean;
}

/** `retainedLength` is in UTF-16 units. Drops the byte order mark; stops between pieces on abort. */
export async function forEachLine(
	pieces: AsyncIterable<Buffer>,
	retainedLength: number,
	signal: AbortSignal,
	take: (line: TextLine) => void,
	decoder: Decoder = new TextDecoder("utf-8"),
): Promise<void> {
	let line = "";
	let isCut = false;
	let isOpen = false;

	const add = (text: string): void => {
		if (text === "") return;
		isOpen = true;
		// Keeps one extra unit, so that the CR of a line with exactly this length can be recognized.
		const room = retainedLength + 1 - line.length;
		if (room > 0) line += text.slice(0, room);
		if (text.length > room) isCut = true;
	};
	const finish = (isEnded: boolean): void => {
		const text = isEnded && !isCut && line.endsWith("\r") ? line.slice(0, -1) : line;
		take({ text: beginning(text, retainedLength), isCut: isCut || text.length > retainedLength, isEnded });
		line = "";
		isCut = false;
		isOpen = false;
	};
	const split = (text: string): void => {
		let start = 0;
		for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
			add(text.slice(start, end));
			finish(true);
			start = end + 1;
		}
		add(text.slice(start));
	};

	for await (const piece of pieces) {
		if (signal.aborted) return;
		split(decoder.decode(piece, { stream: true }));
	}
	split(decoder.decode());
	if (isOpen) finish(false);
}
