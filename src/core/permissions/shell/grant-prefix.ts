import { posix } from "node:path";
import { hasHarmlessAssignments } from "./command-pattern.ts";
import { readForm } from "./programs/read-form.ts";
import type { CommandReading, Word } from "./script.ts";

export interface GrantPrefix {
	readonly tokens: readonly string[];
	readonly isExact: boolean;
}

/** The prefix for a command of a script that starts in `root`; null unless all words are certain. */
export function grantPrefix({ command, inner }: CommandReading, root: string): GrantPrefix | null {
	const { words, cwd } = command;
	const [program, ...others] = words;
	if (program?.kind !== "literal" || program.text === "" || command.isDeclaredHere) return null;
	if (!hasHarmlessAssignments(command)) return null;
	const isPath = program.text.includes("/");
	if (isPath && !posix.isAbsolute(program.text) && cwd === null) return null;
	const start = isPath && cwd !== posix.resolve(root) ? posix.resolve(cwd ?? "/", program.text) : program.text;
	const exact = (): GrantPrefix | null =>
		words.every((word) => word.kind === "literal")
			? { tokens: [start, ...others.map(({ text }) => text)], isExact: true }
			: null;
	if (inner !== null) return (inner.isFollowed ? wrapperPrefix(words, inner.commands, root) : null) ?? exact();
	const { names, form } = readForm(command);
	const isInFront = names.every((name, index) => words[index]?.text === name);
	if (form === null || !isInFront || form.isExact === true) return exact();
	// An interpreter is approved together with its program file.
	const namesMore = form.isVerb === true || (form.files === "run" && form.optionsFirst === true);
	const count = names.length + (namesMore ? 1 : 0);
	const last = words[count - 1];
	if (namesMore && (last === undefined || !/^\w[\w./:-]*$/.test(last.text))) return exact();
	if (readForm(command, count).doubt !== null || words.slice(0, count).some(({ kind }) => kind === "dynamic"))
		return exact();
	return { tokens: [start, ...words.slice(1, count).map(({ text }) => text)], isExact: false };
}

/** `npx tsc` is stored as is, with the words that may follow `tsc`. */
function wrapperPrefix(
	words: readonly Word[],
	[first, ...others]: readonly CommandReading[],
	root: string,
): GrantPrefix | null {
	const program = first?.command.words[0];
	const at = program === undefined ? -1 : words.indexOf(program);
	const before = words.slice(0, at);
	if (first === undefined || others.length > 0 || at < 1 || before.some(({ kind }) => kind === "dynamic")) return null;
	const prefix = grantPrefix(first, root);
	return prefix === null ? null : { ...prefix, tokens: [...before.map(({ text }) => text), ...prefix.tokens] };
}
