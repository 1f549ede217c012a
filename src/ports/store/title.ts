// Session titles (agent-kernel §13.9): the first prompt, shortened. The kernel decides when to set one.

import { inputText, type UserInput } from "../../api/values/content.ts";
import { KernelError } from "../../base/errors.ts";

const longestTitle = 50;
const ellipsis = "…";
/** Words; splits long ones into pieces longer than any title. */
const words = /\S{1,200}/gu;

export const untitled = "Untitled";

/** At most 50 characters on one line, cut at a word boundary if possible; null if the input has no text. */
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

/** Maximum characters of a user-chosen title. */
const longestGivenTitle = 200;
/** Line breaks, and characters that change how surrounding text is displayed. */
const unprintable = /[\s\p{Cc}\p{Zl}\p{Zp}\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f]+/gu;

export function toGivenTitle(text: string): string {
	if (text.length > 4 * longestGivenTitle) throw tooLong();
	const title = text.replace(unprintable, " ").trim();
	if (title === "") throw new KernelError("invalid-input", "A title needs a visible character.");
	if ([...title].length > longestGivenTitle) throw tooLong();
	return title;
}

function tooLong(): KernelError {
	return new KernelError("invalid-input", `A title can have at most ${longestGivenTitle} characters.`);
}

/** The first words separated by single spaces, longer than any title, without processing the whole text. */
function beginningOf(text: string): string {
	let start = "";
	for (const [word] of text.matchAll(words)) {
		start += start === "" ? word : ` ${word}`;
		if (start.length > 4 * longestTitle) break;
	}
	return start;
}
