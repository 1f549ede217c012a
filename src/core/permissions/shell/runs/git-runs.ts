// What git runs through settings, verbs and options that name a program.

import type { Word } from "../script.ts";
import { type OptionNames, valuesOf } from "./option-scripts.ts";
import { joinLiteral, nothing, type Run, runOf, scriptOf, type Unwrapped } from "./run.ts";

/** Settings whose value is a program or a script. */
const programKey =
	/^alias\.|pager|editor|command|cmd|program|external|textconv|helper|driver|clean|smudge|process|askpass|fsmonitor|uploadpack|receivepack|diff?filter|hook$/i;
const placeKey = /hookspath|^include|insteadof|^protocol\.|attributesfile|\.vcs$/i;

/** Options whose value is a script, by verb. */
const scriptOptions: Readonly<Record<string, OptionNames>> = {
	rebase: { short: "x", long: "exec" },
	difftool: { short: "x", long: "extcmd" },
	grep: { short: "O", long: "open-files-in-pager" },
	clone: { short: "u", long: "upload-pack" },
	fetch: { short: "", long: "upload-pack" },
	pull: { short: "", long: "upload-pack" },
	"fetch-pack": { short: "", long: "upload-pack exec" },
	"ls-remote": { short: "", long: "upload-pack exec" },
	push: { short: "", long: "receive-pack exec" },
	"send-pack": { short: "", long: "receive-pack exec" },
	archive: { short: "", long: "exec" },
	"send-email": { short: "", long: "sendmail-cmd to-cmd cc-cmd header-cmd" },
	instaweb: { short: "d", long: "httpd browser" },
	"filter-branch": {
		short: "",
		long: "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter setup",
	},
};

/** Options before the verb with a value in the next word. */
const globalValued = new Set("-C --git-dir --work-tree --namespace --super-prefix --attr-source".split(" "));

export function unwrapGit(words: readonly Word[]): Unwrapped {
	const found: Found = { runs: [], doubts: [] };
	let index = 0;
	for (; index < words.length; index += 1) {
		const word = words[index];
		const { text = "" } = word ?? {};
		if (word?.kind === "literal" && text === "-c") {
			index += 1;
			addSetting(words[index], found);
		} else if (/^--config-env(?:=|$)/.test(text)) {
			if (text === "--config-env") index += 1;
			const name = text === "--config-env" ? (words[index]?.text ?? "") : text.slice("--config-env=".length);
			if (programKey.test(name) || placeKey.test(name)) found.doubts.push(`a variable sets ${name} of git`);
		} else if (globalValued.has(text)) index += 1;
		else if (!text.startsWith("-")) break;
	}
	const verb = words[index];
	if (verb?.kind === "literal") addVerb(verb.text, words.slice(index + 1), found);
	if (found.runs.length + found.doubts.length === 0) return nothing;
	return { runs: found.runs.map((run) => ({ ...run, directory: "open" })), doubts: found.doubts, isTransparent: false };
}

interface Found {
	readonly runs: Run[];
	readonly doubts: string[];
}

function addSetting(word: Word | undefined, found: Found): void {
	if (word === undefined) return;
	const [, key = word.text, value] = /^([^=]*)=(.*)$/s.exec(word.text) ?? [];
	addValue(
		key,
		word.kind === "dynamic" ? word : value === undefined ? undefined : { kind: "literal", text: value },
		found,
	);
}

function addValue(key: string, value: Word | undefined, { runs, doubts }: Found): void {
	if (value?.kind === "dynamic") {
		const isPlain = /^[\w.-]+$/.test(key) && !programKey.test(key) && !placeKey.test(key);
		if (!isPlain) doubts.push(`a setting of git is ${value.why}`);
		return;
	}
	if (value === undefined || value.text === "") return;
	if (placeKey.test(key)) doubts.push(`the setting ${key} of git may run programs`);
	else if (value.text.startsWith("!")) runs.push(scriptOf(value.text.slice(1)));
	else if (/^alias\./i.test(key)) runs.push(scriptOf(`git ${value.text}`));
	else if (programKey.test(key)) runs.push(scriptOf(value.text));
}

function addVerb(verb: string, words: readonly Word[], found: Found): void {
	const { runs, doubts } = found;
	if (words.some(({ text }) => /^ext::/.test(text))) doubts.push("the address of a repository is a command");
	if (verb === "clone") {
		for (const setting of valuesOf(words, { short: "c", long: "config" })) addSetting(setting, found);
	}
	const options = Object.hasOwn(scriptOptions, verb) ? scriptOptions[verb] : undefined;
	if (options !== undefined) {
		for (const value of valuesOf(words, options)) {
			if (value.kind === "literal") runs.push(scriptOf(value.text));
			else doubts.push(`what git ${verb} runs is ${value.why}`);
		}
	}
	const [first, ...others] = words.filter((word, index) => !(index === 0 && /^-(?:q|-quiet)$/.test(word.text)));
	if (verb === "bisect" && first?.text === "run" && others.length > 0) runs.push(runOf(others));
	if (verb === "submodule" && first?.text === "foreach") {
		const start = others.findIndex(
			(word) => word.kind === "dynamic" || !/^(?:-q|--quiet|--recursive|--)$/.test(word.text),
		);
		const given = start < 0 ? [] : others.slice(start);
		const text = joinLiteral(given);
		if (text === null) doubts.push("the command of a shell is not literal");
		runs.push(text === null ? runOf(given) : scriptOf(text));
	}
	if (verb === "config") {
		const key = words.findIndex(
			(word) => word.kind === "literal" && !word.text.startsWith("-") && word.text.includes("."),
		);
		const value = words[key + 1];
		if (key >= 0 && value !== undefined) addValue(words[key]?.text ?? "", value, found);
	}
}
