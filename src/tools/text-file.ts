// Text of a file apart from the form it is stored in: byte order mark and line endings, which an edit must keep.
import { isUtf8 } from "node:buffer";

export type LineEnding = "lf" | "crlf" | "mixed";

export interface TextFile {
	/** Without byte order mark; in a file that ends every line with CR LF, lines end with LF here. */
	readonly text: string;
	readonly hasByteOrderMark: boolean;
	readonly lineEnding: LineEnding;
}

const byteOrderMark = "\ufeff";

function detectLineEnding(text: string): LineEnding {
	let withReturn = 0;
	let without = 0;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
		if (text.charCodeAt(at - 1) === 0x0d) withReturn += 1;
		else without += 1;
	}
	if (withReturn === 0) return "lf";
	return without === 0 ? "crlf" : "mixed";
}

export function toLineFeeds(text: string): string {
	return text.replaceAll("\r\n", "\n");
}

/** Null when the bytes are not valid UTF-8. */
export function decodeTextFile(bytes: Buffer): TextFile | null {
	if (!isUtf8(bytes)) return null;
	const decoded = bytes.toString("utf8");
	const hasByteOrderMark = decoded.startsWith(byteOrderMark);
	const text = hasByteOrderMark ? decoded.slice(1) : decoded;
	const lineEnding = detectLineEnding(text);
	return { text: lineEnding === "crlf" ? toLineFeeds(text) : text, hasByteOrderMark, lineEnding };
}

/** The bytes of a new text, as `decodeTextFile` gives it, in the form of the old file; null for a file that is new. */
export function encodeTextFile(text: string, form: Omit<TextFile, "text"> | null): Buffer {
	const body = form?.lineEnding === "crlf" ? text.replaceAll("\n", "\r\n") : text;
	return Buffer.from(form?.hasByteOrderMark === true && !body.startsWith(byteOrderMark) ? byteOrderMark + body : body);
}
