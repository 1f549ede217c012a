// Reads the lines of a file piece by piece, retaining no more of a line than requested, however long it is.
import { beginning } from "../../../base/text/well-formed.ts";
import type { Decoder } from "./encodings.ts";

export interface TextLine {
	/** Without its newline, and without the CR before it. */
	readonly text: string;
	/** Whether the rest of the line was left out. */
	readonly isCut: boolean;
	/** Whether a newline ends it; only the last line may have none. */
	readonly isEnded: boolean;
}

/**
 * Calls back for every line, in order. `retainedLength` is in UTF-16 units. A byte order mark is dropped. Stops between
 * pieces when the signal aborts. By default, invalid UTF-8 is replaced.
 */
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
		// One more than is retained, so that the CR of a line with exactly that length is not taken for a part of it.
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
