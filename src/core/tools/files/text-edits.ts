// Applies edits to a text, one after the other: matches are found and counted in linear time, and edits that would make
// a small text huge are refused. Long work yields to other work.
import { createPace, type Pace } from "../../../base/pace.ts";
import { createTextSearch, type TextSearch } from "../../../base/text-search.ts";
import { type LineEnding, toLineFeeds } from "./text-file.ts";

export interface TextEdit {
	readonly old: string;
	readonly new: string;
	readonly replace_all: boolean;
}

/** Characters that one call may add to a text. */
const growthLimit = 4 * 1024 * 1024;

/** Total characters that the edits of one call may search. */
const searchLimit = 2 * 1024 * 1024 * 1024;

/** Replacements that are joined at once. */
const batchSize = 10_000;

export type EditedText =
	| { readonly ok: true; readonly text: string; readonly replacements: number }
	/** A sentence or two. */
	| { readonly ok: false; readonly message: string };

/** Applies the edits in order. Replacements are counted in the text as it was at first. */
export async function applyEdits(
	original: string,
	edits: readonly TextEdit[],
	lineEnding: LineEnding,
): Promise<EditedText> {
	const refuse = (message: string): EditedText => ({ ok: false, message });
	const fitting = Math.floor(searchLimit / Math.max(1, original.length));
	if (edits.length > fitting) {
		return refuse(
			`${edits.length} edits of a text of ${original.length} characters are too many for one call; ${fitting} can be made. Nothing was changed: use several calls.`,
		);
	}
	const pace = createPace();
	let text = original;
	let replacements = 0;
	let searched = 0;
	for (const [index, given] of edits.entries()) {
		const place = edits.length === 1 ? "The edit" : `Edit ${index + 1}`;
		const name = edits.length === 1 ? "`old`" : `\`old\` of edit ${index + 1}`;
		if (given.old === "") return refuse(`${name} is empty; to write a whole file use WriteFile.`);
		searched += text.length;
		if (searched > searchLimit) {
			return refuse(
				`${place} comes after more searching than one call may do. Nothing was changed: use several calls.`,
			);
		}
		const edit = adaptEdit(given, text, lineEnding);
		const search = createTextSearch(edit.old);
		const count = await countOccurrences(text, edit.old, search, pace);
		if (count > 1 && !edit.replace_all) {
			return refuse(
				`${name} was found ${count} times, so nothing was replaced. Make it longer until it is unique, or set \`replace_all\`.`,
			);
		}
		const length = text.length + count * (edit.new.length - edit.old.length);
		if (length - original.length > growthLimit) {
			return refuse(
				`${place} would make the text ${length} characters long, which is ${length - original.length} more than it has; one call may add ${growthLimit}. Nothing was changed: use several calls, or WriteFile.`,
			);
		}
		const atFirst = text === original ? count : await countOccurrences(original, edit.old, search, pace);
		if (count > 0) text = await replaceOccurrences(text, edit, search, pace);
		replacements += edit.replace_all ? atFirst : Math.min(1, atFirst);
	}
	if (text !== original) return { ok: true, text, replacements };
	return refuse("No replacements were made: the text to replace was not found, or is the same as the new text.");
}

/** The edit with the line endings of the text. */
function adaptEdit(edit: TextEdit, text: string, lineEnding: LineEnding): TextEdit {
	if (lineEnding === "crlf") return { ...edit, old: toLineFeeds(edit.old), new: toLineFeeds(edit.new) };
	if (lineEnding === "lf" || createTextSearch(edit.old)(text, 0) !== -1) return edit;
	const withReturns = (piece: string) => toLineFeeds(piece).replaceAll("\n", "\r\n");
	return { ...edit, old: withReturns(edit.old), new: withReturns(edit.new) };
}

async function countOccurrences(text: string, piece: string, search: TextSearch, pace: Pace): Promise<number> {
	await pace.rest();
	let count = 0;
	for (let at = search(text, 0); at !== -1; at = search(text, at + piece.length)) {
		count += 1;
		if (count % batchSize === 0) await pace.rest();
	}
	return count;
}

async function replaceOccurrences(
	text: string,
	{ old, new: replacement }: TextEdit,
	search: TextSearch,
	pace: Pace,
): Promise<string> {
	const joined: string[] = [];
	let batch: string[] = [];
	let start = 0;
	for (let at = search(text, 0); at !== -1; at = search(text, start)) {
		batch.push(text.slice(start, at), replacement);
		start = at + old.length;
		if (batch.length < 2 * batchSize) continue;
		joined.push(batch.join(""));
		batch = [];
		await pace.rest();
	}
	return [...joined, ...batch, text.slice(start)].join("");
}
