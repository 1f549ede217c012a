// Texts from outside, formatted for one line of a terminal.
import { visibleText } from "../base/text/visible-text.ts";
import { beginning } from "../base/text/well-formed.ts";

/** The text as a JSON string, cut to at most `limit` characters with an ellipsis. */
export function quoted(text: string, limit = 80): string {
	return JSON.stringify(text.length <= limit ? text : `${beginning(text, limit - 1)}…`);
}

/** The text without terminal control characters; tabs and line ends stay. */
export function withoutControls(text: string): string {
	return text.replace(/[^\P{Cc}\t\n\r]/gu, "");
}

/** The text on one line of at most `limit` characters, with an ellipsis where it was truncated. */
export function onOneLine(text: string, limit: number): string {
	// Truncated first: outputs may be large.
	const line = visibleText(
		beginning(text, limit * 8)
			.replace(/[\p{Cc}\s]+/gu, " ")
			.trim(),
	);
	const characters = Array.from(line);
	return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join("")}…`;
}

/** The text with everything that a terminal would not show, or would obey, written as an escape such as `\u{1b}`. */
export function withEscapes(text: string): string {
	return visibleText(text).replace(/[\t\n]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}
