// The options of `env`, one of which contains further words for `env`.
import { optionTable, readOptions } from "../programs/options.ts";
import type { Word } from "../script.ts";

const table = optionTable(
	"-i0v -uCSa: --ignore-environment --null --debug --list-signal-handling --block-signal --default-signal --ignore-signal --help --version " +
		"--unset= --chdir= --split-string= --argv0=",
);

/** The words from the first assignment or program on. */
export function readEnvironment(words: readonly Word[]): { rest: readonly Word[]; doubts: string[]; moves: boolean } {
	const doubts: string[] = [];
	let moves = false;
	let left = words;
	for (let round = 0; round < 10; round += 1) {
		if (left[0]?.text === "-") {
			left = left.slice(1);
			continue;
		}
		const split = left.findIndex((word) => /^-[iv0]*S|^--sp[a-z-]*(?:=|$)/.test(word.text));
		const { options, rest, unclear } = readOptions(split < 0 ? left : left.slice(0, split), table);
		if (unclear !== null) doubts.push("an option of env is not literal, or not known");
		moves ||= options.some(({ name }) => name === "C" || name === "chdir");
		// The words after the first non-option belong to the program.
		if (split < 0 || rest.length > 0) {
			const isOption = split >= 0 ? left.slice(split) : [];
			return { rest: [...rest, ...isOption], doubts, moves };
		}
		const [word, ...others] = left.slice(split);
		const attached = /^(?:-[iv0]*S|--sp[a-z-]*=)(.+)$/s.exec(word?.text ?? "")?.[1];
		const value: Word | undefined =
			attached === undefined ? others[0] : word?.kind === "dynamic" ? word : { kind: "literal", text: attached };
		if (value?.kind !== "literal")
			return { rest: others, doubts: [...doubts, "what env splits is not literal"], moves };
		if (/[\\$"'#]/.test(value.text)) doubts.push("what env splits has quotes or variables");
		const made = value.text.split(/\s+/).filter((text) => text !== "");
		const unquoted = made.map((text): Word => ({ kind: "literal", text: text.replaceAll(/["'\\]/g, "") }));
		left = [...unquoted, ...(attached === undefined ? others.slice(1) : others)];
	}
	return { rest: left, doubts: [...doubts, "env is nested too deeply"], moves };
}
