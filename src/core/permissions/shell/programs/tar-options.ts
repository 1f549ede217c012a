// The traditional `tar` options: letters in the first word, with their values in the next words in order.
import type { Word } from "../script.ts";

/** Letters whose value is a separate word. */
const valuedLetters = "bfgCFHIKLNTVX";

/** Turns `xIf zstd a.tar` into `-x -I zstd -f a.tar`; other words stay unchanged. */
export function spreadOlderOptions(words: readonly Word[]): readonly Word[] {
	const [first, ...rest] = words;
	if (first?.kind !== "literal" || !/^[A-Za-z]+$/.test(first.text)) return words;
	let taken = 0;
	const options = [...first.text].flatMap((letter): readonly Word[] => {
		const option: Word = { kind: "literal", text: `-${letter}` };
		const value = valuedLetters.includes(letter) ? rest[taken] : undefined;
		if (value === undefined) return [option];
		taken += 1;
		return [option, value];
	});
	return [...options, ...rest.slice(taken)];
}
