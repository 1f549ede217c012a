// Edits apply in order, all or none, in linear time and with bounded growth.
import { createPace, type Pace } from "../../../base/pace.ts";
import { createTextSearch, type TextSearch } from "../../../base/text/text-search.ts";
import { cutLine } from "../text-limits.ts";
import { type LineEnding, toLineFeeds } from "./text-file.ts";

export interface TextEdit {
	readonly old: string;
	readonly new: string;
	readonly replace_all: boolean;
}

/** Maximum characters that one call can add. */
const growthLimit = 4 * 1024 * 1024;

/** Maximum total characters that one call can search. */
const searchLimit = 2 * 1024 * 1024 * 1024;

const batchSize = 10_000;

export type EditedText =
	| { readonly ok: true; readonly text: string; readonly replacements: number }
	| { readonly ok: false; readonly message: string };

/** Applies each edit to the previous result. One edit without a match refuses them all. */
export async function applyEdits(
	original: string,
	edits: readonly TextEdit[],
	lineEnding: LineEnding,
): Promise<EditedText> {
	const refuse = (message: string): EditedText => ({ ok: false, message });
	if (edits.length === 0) return refuse("The list of edits is empty.");
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
		const quoted = `${name} (${quotedBeginning(given.old)})`;
		if (given.old === "")
			return refuse(`${name} is empty, so nothing was changed. To write a whole file use WriteFile.`);
		if (given.old === given.new) return refuse(`${quoted} is the same as \`new\`, so nothing was changed.`);
		searched += text.length;
		if (searched > searchLimit) {
			return refuse(
				`${place} comes after more searching than one call may do. Nothing was changed: use several calls.`,
			);
		}
		const edit = adaptEdit(given, text, lineEnding);
		const search = createTextSearch(edit.old);
		const count = await countOccurrences(text, edit.old, search, pace);
		if (count === 0) {
			const wasThere = text !== original && search(original, 0) !== -1;
			return refuse(
				wasThere
					? `${quoted} is no longer in the text after the edits before it, so nothing was changed. Each edit applies to the result of the one before: merge them, or change their order.`
					: `${quoted} was not found, so nothing was changed. Read the file again, and copy the text exactly, with its white space.`,
			);
		}
		if (count > 1 && !edit.replace_all) {
			const after = text === original ? "" : " in the result of the edits before it";
			return refuse(
				`${quoted} was found ${count} times${after}, so nothing was changed. Make it longer until it is unique, or set \`replace_all\`.`,
			);
		}
		const length = text.length + count * (edit.new.length - edit.old.length);
		if (length - original.length > growthLimit) {
			return refuse(
				`${place} would make the text ${length} characters long, which is ${length - original.length} more than it has; one call may add ${growthLimit}. Nothing was changed: use several calls, or WriteFile.`,
			);
		}
		text = await replaceOccurrences(text, edit, search, pace);
		replacements += count;
	}
	if (text !== original) return { ok: true, text, replacements };
	return refuse("No replacements were made: the edits together leave the text as it is.");
}

/** Characters of the edit shown in its error message. */
const quotedLength = 60;

function quotedBeginning(text: string): string {
	const [first = "", ...rest] = text.trim().split("\n", 2);
	const shown = cutLine(first.trimEnd(), quotedLength, "...");
	return `\`${rest.length > 0 && !shown.endsWith("...") ? `${shown}...` : shown}\``;
}

/** Converts the edit to the text's line endings, unless it already matches as written. */
function adaptEdit(edit: TextEdit, text: string, lineEnding: LineEnding): TextEdit {
	const withFeeds = { ...edit, old: toLineFeeds(edit.old), new: toLineFeeds(edit.new) };
	if (lineEnding === "crlf") return withFeeds;
	const isFound = (old: string) => createTextSearch(old)(text, 0) !== -1;
	if (isFound(edit.old)) return edit;
	if (lineEnding === "lf" || isFound(withFeeds.old)) return withFeeds;
	const withReturns = (piece: string) => piece.replaceAll("\n", "\r\n");
	return { ...edit, old: withReturns(withFeeds.old), new: withReturns(withFeeds.new) };
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
