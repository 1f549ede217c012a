export interface Piece {
	readonly text: string;
	readonly isEscape: boolean;
}

/** Emoji selectors after their base, and joiners between emoji, are visible. */
const selector = "(?<!\\p{Extended_Pictographic}|[0-9#*](?=\\uFE0F\\u20E3))[\\uFE0E\\uFE0F]";
const joiner =
	"(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D|\\u200D(?!\\p{Extended_Pictographic})";
/** Controls, formats, separators except spaces and newlines, characters without glyphs, and the Braille blank. */
const unseen =
	"(?![\\t\\n \\u3000\\uFE0E\\uFE0F\\u200D])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]";
/** Blank lines and spaces too numerous for layout. */
const gaps = "\\n(?:[ \\t]*\\n){3,}|[ \\t]{60,}";

const characters = new RegExp(`${selector}|${joiner}|${unseen}`, "u");
const everyCharacter = new RegExp(characters, "gu");
const hidden = new RegExp(`${characters.source}|${gaps}`, "u");
const everyHidden = new RegExp(hidden, "gu");

export const hiddenWarning =
	"Careful: it has characters that are invisible or change how the text reads. They are shown as \\u{…}.";

export function hidesText(text: string): boolean {
	return hidden.test(text);
}

export function hidesContent(content: string): boolean {
	return characters.test(content.replaceAll("\r\n", "\n"));
}

/** The text in pieces. Hidden characters become escapes such as `\u{202e}`, and long gaps `\u{a}×57`. */
export function visiblePieces(text: string): readonly Piece[] {
	return piecesOf(text, everyHidden);
}

/** The same for a file line, where long gaps are common. */
export function visibleLine(line: string): readonly Piece[] {
	return piecesOf(line, everyCharacter);
}

function piecesOf(text: string, escaped: RegExp): readonly Piece[] {
	const pieces: Piece[] = [];
	let end = 0;
	for (const { 0: found, index } of text.matchAll(escaped)) {
		if (index > end) pieces.push({ text: text.slice(end, index), isEscape: false });
		pieces.push({ text: escapeOf(found), isEscape: true });
		end = index + found.length;
	}
	if (end < text.length) pieces.push({ text: text.slice(end), isEscape: false });
	return pieces;
}

export function visibleText(text: string): string {
	return hidesText(text)
		? visiblePieces(text)
				.map((piece) => piece.text)
				.join("")
		: text;
}

function escapeOf(found: string): string {
	const lines = found.split("\n").length - 1;
	if (lines > 1) return `\n\\u{a}×${lines}\n`;
	return found.length > 2 ? ` \\u{20}×${found.length} ` : `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`;
}
