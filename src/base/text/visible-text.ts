// Shows what a text hides from its reader: invisible characters, and characters that reorder the letters around them or
// push the rest out of sight.

export interface Piece {
	readonly text: string;
	/** Whether it stands for something that the text does not show by itself. */
	readonly isEscape: boolean;
}

/** Selectors of emoji after what they select, and joiners between emoji, are a part of what is seen. */
const selector = "(?<!\\p{Extended_Pictographic}|[0-9#*](?=\\uFE0F\\u20E3))[\\uFE0E\\uFE0F]";
const joiner =
	"(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D|\\u200D(?!\\p{Extended_Pictographic})";
/** Controls, formats, separators other than blanks and line ends, what draws nothing, and the blank of Braille. */
const unseen =
	"(?![\\t\\n \\u3000\\uFE0E\\uFE0F\\u200D])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]";
/** Lines without letters, and blanks, of which so many are no layout. */
const gaps = "\\n(?:[ \\t]*\\n){3,}|[ \\t]{60,}";

const characters = new RegExp(`${selector}|${joiner}|${unseen}`, "u");
const everyCharacter = new RegExp(characters, "gu");
const hidden = new RegExp(`${characters.source}|${gaps}`, "u");
const everyHidden = new RegExp(hidden, "gu");

/** One sentence for a text that is not shown as it is. */
export const hiddenWarning =
	"Careful: it has characters that are invisible or change how the text reads. They are shown as \\u{…}.";

/** Whether the text hides something. */
export function hidesText(text: string): boolean {
	return hidden.test(text);
}

/** The same for the content of a file, in which long gaps are common and line ends may have a carriage return. */
export function hidesContent(content: string): boolean {
	return characters.test(content.replaceAll("\r\n", "\n"));
}

/** The text in pieces; what it hides is written as an escape such as `\u{202e}`, and a long gap as `\u{a}×57`. */
export function visiblePieces(text: string): readonly Piece[] {
	return piecesOf(text, everyHidden);
}

/** The same for a line of a file, in which long gaps are common. */
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

/** The same as one text. */
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
