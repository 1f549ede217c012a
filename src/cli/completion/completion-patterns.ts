// Parts shared by the scripts for different shells: words that lead to a deeper level, flags with a value, and quoting.
import { shellQuoted } from "../../base/text/quoting.ts";
import type { CommandFlag } from "../arguments/commands.ts";
import type { Offers } from "../arguments/flags.ts";
import type { CompletionLevel } from "./completion-levels.ts";

/** A word at a level, as scripts look it up: `mcp add:--env`. */
export const toKey = ({ path }: CompletionLevel, word: string): string => `${path.join(" ")}:${word}`;

/** The words that lead to a deeper level. */
export function steps(levels: readonly CompletionLevel[]): readonly string[] {
	return levels.flatMap((level) => level.words.map(({ name }) => toKey(level, name)));
}

/** The flags with a value that pass the test. */
export function valued(
	levels: readonly CompletionLevel[],
	accepts: (flag: CommandFlag) => boolean = () => true,
): readonly string[] {
	return levels.flatMap((level) =>
		level.flags
			.filter((flag) => flag.value !== null && accepts(flag))
			.flatMap(({ names }) => names.map((name) => toKey(level, name))),
	);
}

/** The flags whose values can be offered, those with the same offers together. */
export function offered(
	levels: readonly CompletionLevel[],
): readonly { readonly offers: Offers; readonly keys: readonly string[] }[] {
	const groups = new Map<string, { offers: Offers; keys: readonly string[] }>();
	for (const { offers } of levels.flatMap(({ flags }) => flags)) {
		if (offers === undefined) continue;
		const keys = valued(levels, (flag) => String(flag.offers) === String(offers));
		groups.set(String(offers), { offers, keys });
	}
	return [...groups.values()];
}

/** The name as part of the name of a function. */
export const toIdentifier = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "_");

/** Alternatives of a `case` of bash and zsh. */
export const alternatives = (keys: readonly string[]): string => keys.map(shellQuoted).join(" | ");
