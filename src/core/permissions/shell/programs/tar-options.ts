// The older form of the options of `tar`: letters in the first word, whose values follow in their order.
import type { Word } from "../script.ts";

/** Letters with a value, which is a word of its own. */
const valuedLetters = "bfgCFHIKLNTVX";

/** `xIf zstd a.tar` as `-x -I zstd -f a.tar`; words without the older form as they are. */
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
