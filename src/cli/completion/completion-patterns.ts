import { shellQuoted } from "../../base/text/quoting.ts";
import type { CommandFlag } from "../arguments/commands.ts";
import type { Offers } from "../arguments/flags.ts";
import type { CompletionLevel } from "./completion-levels.ts";

/** The lookup key of a word at a level: `mcp add:--env`. */
export const toKey = ({ path }: CompletionLevel, word: string): string => `${path.join(" ")}:${word}`;

export function steps(levels: readonly CompletionLevel[]): readonly string[] {
	return levels.flatMap((level) => level.words.map(({ name }) => toKey(level, name)));
}

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

export const toIdentifier = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "_");

/** Alternatives for a `case` in bash and zsh. */
export const alternatives = (keys: readonly string[]): string => keys.map(shellQuoted).join(" | ");
