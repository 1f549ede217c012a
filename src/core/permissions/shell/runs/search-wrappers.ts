import { optionTable, readOptions } from "../programs/options.ts";
import type { FoundFiles, SimpleCommand, Word } from "../script.ts";
import { doubtOfOptions, nothing, type Run, runOf, type Unwrapped } from "./run.ts";

const xargsTable = optionTable(
	"-0prtxo -adEILnPs: -eil? --null --eof --replace --max-lines --interactive --no-run-if-empty --verbose --exit --show-limits --open-tty " +
		"--help --version --arg-file= --delimiter= --max-args= --max-procs= --max-chars= --process-slot-var=",
);

const fromInput: Extract<Word, { kind: "dynamic" }> = {
	kind: "dynamic",
	text: "…",
	why: "what xargs reads",
	mayBeOption: true,
};

/** `input` is the previous command in the pipeline. */
export function unwrapXargs(words: readonly Word[], input: SimpleCommand | null): Unwrapped {
	const read = readOptions(words, xargsTable);
	const readsFile = read.options.some(({ name }) => name === "a" || name === "arg-file");
	const fed: Word = { ...fromInput, ...(readsFile ? {} : foundBy(input)) };
	const doubts = doubtOfOptions(read);
	if (read.rest.length === 0) return { ...nothing, doubts };
	const replaced = read.options.flatMap(({ name, value }) => {
		if (name === "I") return [value?.text ?? "{}"];
		return name === "i" || name === "replace" ? [value === null || value.text === "" ? "{}" : value.text] : [];
	});
	const isReplaced = (word: Word) => replaced.some((text) => word.text.includes(text));
	const inner = read.rest.map(
		(word): Word => (isReplaced(word) && !isScript(word) ? { ...fed, text: word.text } : word),
	);
	if (read.rest.some((word) => isReplaced(word) && isScript(word)))
		doubts.push("what xargs reads becomes a part of a script");
	const run = runOf(replaced.length > 0 ? inner : [...inner, fed]);
	return { runs: [run], doubts, isTransparent: doubts.length === 0 && !readsFile, isFollowed: doubts.length === 0 };
}

const otherOutput = /^(?:-or?|-L|-H|-follow|-f?print.*|-f?ls|-(?:exec|ok).*)$/;

/** What `find` prints, if one name test applies to all results. */
function foundBy(input: SimpleCommand | null): { readonly found?: FoundFiles } {
	const [program, ...words] = input?.words ?? [];
	const isFind = program?.kind === "literal" && program.text === "find";
	if (!isFind || words.some(({ text }) => otherOutput.test(text))) return {};
	const at = words.findIndex(({ text }) => text === "-name");
	const name = words[at + 1];
	if (at < 0 || name?.kind !== "literal" || /^(?:!|-not)$/.test(words[at - 1]?.text ?? "")) return {};
	const roots = words.slice(
		0,
		words.findIndex(({ text }) => /^[-(!]/.test(text)),
	);
	// `find` does not follow a link at the end of a root, but follows one within it.
	const isNear = roots.every(({ kind, text }) => kind === "literal" && /^(?:\.|[\w-]+)$/.test(text));
	return { found: { name: name.text, isNear } };
}

/** Whether a word may be a shell script; then its commands count despite insertions. */
export function isScript(word: Word): boolean {
	return word.kind === "literal" && /\s/.test(word.text);
}

/** Options of `fd`; the last takes the program in the same word or the next one. */
const startOfBatch = /^(?:-[HIsiaLFgpl0q1uh]*[xX]|--exec(?:-batch)?(?:=|$))(.*)$/s;

/** `find -exec … ;`, and `fd -x …`. */
export function unwrapFind(words: readonly Word[], name: string): Unwrapped {
	const starts = name === "find" ? /^-(?:exec|execdir|ok|okdir)$/ : startOfBatch;
	const runs: Run[] = [];
	const doubts: string[] = [];
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index];
		const start = word?.kind === "literal" ? starts.exec(word.text) : null;
		if (word === undefined || start === null) continue;
		const attached: readonly Word[] = start[1] ? [{ kind: "literal", text: start[1] }] : [];
		const end = words.findIndex((other, at) => at > index && (other.text === ";" || isBatchEnd(words, at, name)));
		const inner = [...attached, ...words.slice(index + 1, end < 0 ? words.length : end)];
		if (inner.length === 0) continue;
		const filled = inner.map((part): Word => {
			const isFound = part.kind === "literal" && part.text.includes("{}");
			if (isFound && isScript(part)) doubts.push("the name of a file becomes a part of a script");
			return isFound && !isScript(part)
				? { kind: "dynamic", text: part.text, why: "a file that it finds", mayBeOption: false }
				: part;
		});
		runs.push(runOf(filled, { directory: word.text.endsWith("dir") ? "open" : "same" }));
		if (end < 0) break;
		index = end;
	}
	return { runs, doubts, isTransparent: false };
}

export function isBatchEnd(words: readonly Word[], at: number, name: string): boolean {
	return name === "find" && words[at]?.text === "+" && words[at - 1]?.text === "{}";
}
