import { visibleText } from "../base/text/visible-text.ts";
import { beginning } from "../base/text/well-formed.ts";

export function quoted(text: string, limit = 80): string {
	return JSON.stringify(text.length <= limit ? text : `${beginning(text, limit - 1)}…`);
}

export function withoutControls(text: string): string {
	return text.replace(/[^\P{Cc}\t\n\r]/gu, "");
}

/** The text on one line, truncated to `limit` characters with an ellipsis. */
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

/** Escapes characters that a terminal would hide or execute, such as `\u{1b}`. */
export function withEscapes(text: string): string {
	return visibleText(text).replace(/[\t\n]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}
