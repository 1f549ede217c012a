// Session titles (agent-kernel §13.9): the first prompt, shortened. The kernel decides when to set one.
import { inputText, type UserInput } from "../events/content.ts";

const longestTitle = 50;
const ellipsis = "…";
/** Words; long ones in pieces that are longer than any title. */
const words = /\S{1,200}/gu;

/** Shown for a session without a title. */
export const untitled = "Untitled";

/** At most 50 characters on one line, cut at a word boundary where there is one; null when the input has no text. */
export function toTitle(input: UserInput): string | null {
	const text = beginningOf(inputText(input));
	if (text === "") return null;
	const characters = [...text];
	if (characters.length <= longestTitle) return text;
	const room = longestTitle - ellipsis.length;
	// A space right after the cut is a boundary too.
	const boundary = characters.lastIndexOf(" ", room);
	return (
		characters
			.slice(0, boundary > 0 ? boundary : room)
			.join("")
			.trimEnd() + ellipsis
	);
}

/** The first words with single spaces between them, more than a title can hold, however long the text is. */
function beginningOf(text: string): string {
	let start = "";
	for (const [word] of text.matchAll(words)) {
		start += start === "" ? word : ` ${word}`;
		if (start.length > 4 * longestTitle) break;
	}
	return start;
}
