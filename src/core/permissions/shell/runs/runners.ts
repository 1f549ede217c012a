// Program verbs that run the following words: `docker exec`, `npx`, `kubectl exec`, `ssh`.
import { optionTable, readOptions } from "../programs/options.ts";
import { type Runner, runners } from "../programs/runner-table.ts";
import type { Word } from "../script.ts";
import { doubtOfSuffixes, nothing, type Run, runOf, scriptOf, suffixes, type Unwrapped } from "./run.ts";

interface Verb {
	readonly words: readonly string[];
	readonly runner: Runner;
}

const verbsOf = new Map<string, Verb[]>();
for (const runner of runners) {
	for (const name of runner.names) {
		const [program = "", ...words] = name.split(" ");
		verbsOf.set(program, [...(verbsOf.get(program) ?? []), { words, runner }]);
	}
}

/** Null for a program without such a verb. */
export function unwrapRunner(name: string, words: readonly Word[], isOneOfAll: boolean): Unwrapped | null {
	const verbs = verbsOf.get(name);
	if (verbs === undefined) return null;
	if (isOneOfAll) return nothing;
	for (const verb of verbs) {
		const start = endOfVerb(words, verb.words);
		if (start >= 0) return runsOf(words.slice(start), verb.runner);
	}
	// A verb that is not literal may be any of these.
	const [first] = words;
	return first?.kind === "dynamic" ? { ...nothing, doubts: [`the verb of ${name} is ${first.why}`] } : nothing;
}

/** The index after the verb; -1 if missing. Only options and their values may precede or interrupt it. */
function endOfVerb(words: readonly Word[], verb: readonly string[]): number {
	let reached = 0;
	for (let index = 0; index <= words.length; index += 1) {
		if (reached === verb.length) return index;
		const text = words[index]?.text ?? "";
		if (text === verb[reached]) reached += 1;
		else if (!text.startsWith("-") && !(words[index - 1]?.text ?? "").startsWith("-")) return -1;
	}
	return -1;
}

function runsOf(words: readonly Word[], runner: Runner): Unwrapped {
	const dashes = runner.afterDashes === true ? words.findIndex(({ text }) => text === "--") : -1;
	if (dashes >= 0) return within([runOf(words.slice(dashes + 1))].filter(hasWords));
	const { options, rest, unclear } = readOptions(words, runner.table);
	if (unclear !== null || runner.afterDashes === true) return anyOf(words);
	const runs: Run[] = [];
	const doubts: string[] = [];
	const given = rest.slice(runner.positionals ?? 0);
	let isReplaced = false;
	for (const { name, value } of options) {
		if (runner.scripts?.includes(name)) {
			if (value?.kind === "literal") runs.push(scriptOf(value.text));
			else doubts.push("the command of a shell is not literal");
		}
		if (name !== runner.program || value === null) continue;
		runs.push(runOf([value, ...given]));
		isReplaced = true;
	}
	const before = rest.slice(0, runner.positionals ?? 0).find((word) => word.kind === "dynamic" && word.mayBeOption);
	if (before?.kind === "dynamic") doubts.push(`a word before the program is ${before.why}`);
	if (!isReplaced && given.length > 0) runs.push(runOf(given));
	if (runner.isFollowed === true) {
		const isPlain = doubts.length === 0 && options.every(({ name }) => harmlessOptions.test(name));
		return { runs, doubts, isTransparent: false, isFollowed: isPlain };
	}
	return { ...within(runs), doubts };
}

/** Runner options that change neither the command nor its directory. */
const harmlessOptions =
	/^(?:y|yes|no|no-install|q|quiet|silent|frozen|locked|no-sync|offline|exact|dev|no-dev|all-extras)$/;

/** It runs in another environment, where the directory differs. */
function within(runs: readonly Run[]): Unwrapped {
	return { runs: runs.map((run) => ({ ...run, directory: "open" })), doubts: [], isTransparent: false };
}

const hasWords = (run: Run): boolean => run.kind === "script" || run.words.length > 0;

/** For options with unknown meaning: any word may be the program and any value a script. */
function anyOf(words: readonly Word[]): Unwrapped {
	const doubts = doubtOfSuffixes(words);
	const open = words.find((word) => word.kind === "dynamic" && word.mayBeOption);
	if (open?.kind === "dynamic") doubts.push(`a word that may be the program is ${open.why}`);
	const attached = words.flatMap((word, index) => {
		const value = word.kind === "literal" ? /^--?[\w-]+=(.+)$/s.exec(word.text)?.[1] : undefined;
		if (value === undefined || /[{}]/.test(value)) return [];
		return [/\s/.test(value) ? scriptOf(value) : runOf([{ kind: "literal", text: value }, ...words.slice(index + 1)])];
	});
	return { ...within([...suffixes(words), ...attached]), doubts };
}

const remoteTable = optionTable("-46AaCfGgKkMNnqsTtVvXxYy -BbcDEeFIiJLlmOopPQRSWw:");

/** `ssh HOST WORDS …` passes its words to a remote shell. */
export function unwrapRemote(words: readonly Word[]): Unwrapped {
	const before = readOptions(words, remoteTable);
	const after = readOptions(before.rest.slice(1), remoteTable);
	const options = [...before.options, ...after.options];
	const doubts = [before, after].flatMap(({ unclear }) => (unclear === null ? [] : ["an option of ssh is not known"]));
	const runs: Run[] = [];
	for (const { name, value } of options) {
		if (name !== "o") continue;
		const command = /^(?:proxy|local|remote|knownhosts)command[\s=]+(.*)$/is.exec(value?.text ?? "")?.[1];
		if (value?.kind === "dynamic") doubts.push("a setting of ssh is not literal");
		else if (command !== undefined) runs.push(scriptOf(command));
	}
	const given = after.rest;
	if (given.length > 0) {
		runs.push(
			given.every((word) => word.kind === "literal") ? scriptOf(given.map(({ text }) => text).join(" ")) : runOf(given),
		);
		if (given.some((word) => word.kind === "dynamic")) doubts.push("the command of a shell is not literal");
	} else if (!options.some(({ name }) => "NGOQVWf".includes(name))) {
		doubts.push("it starts a shell that reads commands from its input");
	}
	return { ...within(runs), doubts };
}
