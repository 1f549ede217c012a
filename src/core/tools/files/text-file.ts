// Separates a file's text from its stored form: byte order mark and line endings, which an edit must preserve.
import { isUtf8 } from "node:buffer";
import { createPace } from "../../../base/pace.ts";

export type LineEnding = "lf" | "crlf" | "mixed";

export interface TextFile {
	/** Without byte order mark; in a file that ends every line with CR LF, lines end with LF here. */
	readonly text: string;
	readonly hasByteOrderMark: boolean;
	readonly lineEnding: LineEnding;
}

const byteOrderMark = "\ufeff";

/** Characters whose line endings are converted at once. */
const pieceLength = 64 * 1024;

async function detectLineEnding(text: string): Promise<LineEnding> {
	const pace = createPace();
	let withReturn = 0;
	let without = 0;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
		if (text.charCodeAt(at - 1) === 0x0d) withReturn += 1;
		else without += 1;
		if ((withReturn + without) % pieceLength === 0) await pace.rest();
	}
	if (withReturn === 0) return "lf";
	return without === 0 ? "crlf" : "mixed";
}

export function toLineFeeds(text: string): string {
	return text.replaceAll("\r\n", "\n");
}

/** Maps the text in pieces: a file of nothing but line ends would need much time and memory at once. */
async function mapPieces<Piece>(text: string, map: (piece: string) => Piece): Promise<Piece[]> {
	const pace = createPace();
	const pieces: Piece[] = [];
	for (let start = 0; start < text.length; ) {
		let end = start + pieceLength;
		// Splits neither a line end nor a surrogate pair.
		if (end < text.length && /[\r\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
		pieces.push(map(text.slice(start, end)));
		start = end;
		await pace.rest();
	}
	return pieces;
}

/** Null when the bytes are not valid UTF-8. */
export async function decodeTextFile(bytes: Buffer): Promise<TextFile | null> {
	if (!isUtf8(bytes)) return null;
	const decoded = bytes.toString("utf8");
	const hasByteOrderMark = decoded.startsWith(byteOrderMark);
	const text = hasByteOrderMark ? decoded.slice(1) : decoded;
	const lineEnding = await detectLineEnding(text);
	const plain = lineEnding === "crlf" ? (await mapPieces(text, toLineFeeds)).join("") : text;
	return { text: plain, hasByteOrderMark, lineEnding };
}

/** The bytes of a text from `decodeTextFile` in the form of the old file; null for a file that is new. */
export async function encodeTextFile(text: string, form: Omit<TextFile, "text"> | null): Promise<Buffer> {
	const isMarked = form?.hasByteOrderMark === true && !text.startsWith(byteOrderMark);
	const mark = Buffer.from(isMarked ? byteOrderMark : "");
	const encode = (piece: string) => Buffer.from(form?.lineEnding === "crlf" ? piece.replaceAll("\n", "\r\n") : piece);
	return Buffer.concat([mark, ...(await mapPieces(text, encode))]);
}
