import { createPace } from "../../../base/pace.ts";
import { guessEncoding } from "./encoding-guess.ts";
import { decodeStrictly, type Encoding, encodePiece, encodingNames } from "./encodings.ts";
import { isTextContent } from "./file-kinds.ts";

export type LineEnding = "lf" | "crlf" | "mixed";

export interface TextFile {
	/** Without the byte order mark. If every line ends with CR LF, the text has LF instead. */
	readonly text: string;
	readonly encoding: Encoding;
	readonly hasByteOrderMark: boolean;
	readonly lineEnding: LineEnding;
}

const byteOrderMark = "\ufeff";

/** Characters converted per piece. */
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

/** Maps the text in pieces; a file of only line breaks would need much time and memory at once. */
async function mapPieces<Piece>(text: string, map: (piece: string) => Piece): Promise<Piece[]> {
	const pace = createPace();
	const pieces: Piece[] = [];
	for (let start = 0; start < text.length; ) {
		let end = start + pieceLength;
		// Keeps line breaks and surrogate pairs whole.
		if (end < text.length && /[\r\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
		pieces.push(map(text.slice(start, end)));
		start = end;
		await pace.rest();
	}
	return pieces;
}

/** Null for binary bytes or an uncertain encoding. */
export async function decodeTextFile(bytes: Buffer): Promise<TextFile | null> {
	const encoding = guessEncoding(bytes);
	if (encoding === null) return null;
	const decoded = encoding === "utf-8" ? bytes.toString("utf8") : decodeStrictly(bytes, encoding);
	if (decoded === null) return null;
	const hasByteOrderMark = encoding.startsWith("utf-16") || decoded.startsWith(byteOrderMark);
	const text = decoded.startsWith(byteOrderMark) ? decoded.slice(1) : decoded;
	const lineEnding = await detectLineEnding(text);
	const plain = lineEnding === "crlf" ? (await mapPieces(text, toLineFeeds)).join("") : text;
	const file = { text: plain, encoding, hasByteOrderMark, lineEnding };
	if (encoding === "utf-8") return file;
	// Unchanged text must keep its bytes.
	const again = text.includes("\0") ? null : await encodeTextFile(plain, file);
	return again?.ok === true && again.bytes.equals(bytes) ? file : null;
}

/** Why a file that `decodeTextFile` rejects cannot be changed; a sentence. */
export function undecodableReason(spelled: string, bytes: Buffer): string {
	return isTextContent(bytes)
		? `\`${spelled}\` is neither UTF-8 nor in another encoding that can be told for certain, and must not be converted unnoticed. Convert it first with Shell, for example with \`iconv -f ENCODING -t UTF-8\`, or remove it.`
		: `\`${spelled}\` is not a text file.`;
}

export type EncodedTextFile =
	| { readonly ok: true; readonly bytes: Buffer }
	| { readonly ok: false; readonly reason: string };

/** Encodes a text from `decodeTextFile` in the old file's form; null `form` for a new file. */
export async function encodeTextFile(text: string, form: TextForm | null): Promise<EncodedTextFile> {
	const encoding = form?.encoding ?? "utf-8";
	const pieces: Buffer[] = [];
	for (const piece of await mapPieces(formed(text, form), (each) => encodePiece(withReturns(each, form), encoding))) {
		if (!piece.ok) {
			const code = (piece.character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
			const reason = `The file is in ${encodingNames[encoding]}, which has no character \`${piece.character}\` (U+${code}). Nothing was changed: write other characters, or convert the file to UTF-8 first.`;
			return { ok: false, reason };
		}
		pieces.push(piece.bytes);
	}
	return { ok: true, bytes: Buffer.concat(pieces) };
}

/** Encodes in UTF-8, regardless of the file's encoding. */
export async function encodeAsUtf8(text: string, form: Omit<TextForm, "encoding">): Promise<Buffer> {
	return Buffer.concat(await mapPieces(formed(text, form), (piece) => Buffer.from(withReturns(piece, form))));
}

export type TextForm = Omit<TextFile, "text">;

function formed(text: string, form: Omit<TextForm, "encoding"> | null): string {
	return form?.hasByteOrderMark === true && !text.startsWith(byteOrderMark) ? byteOrderMark + text : text;
}

function withReturns(piece: string, form: Omit<TextForm, "encoding"> | null): string {
	return form?.lineEnding === "crlf" ? piece.replaceAll("\n", "\r\n") : piece;
}

export const unknownEncodingNote =
	"The file is not UTF-8 and its encoding cannot be told, so other characters than ASCII may be wrong or missing. It cannot be edited unless it is converted first.";

export function encodingNote(encoding: Encoding, hasByteOrderMark: boolean): string {
	if (encoding === "utf-8") return "";
	const name = encodingNames[encoding];
	return hasByteOrderMark
		? `The file is in ${name} with a byte order mark, and is written back in it.`
		: `The file is not UTF-8; it was read as ${name}, a guess, and is written back in it.`;
}
