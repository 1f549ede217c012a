// A row of the table of risky options, and the words that belong to it.
import type { Word } from "../script.ts";

export interface RiskRow {
	readonly programs: string;
	/** Letters of short options, alone or in a bundle. */
	readonly short?: string;
	/** Long options without dashes; abbreviations of them count. */
	readonly long?: string;
	/** Tested on every word. A word that is not literal may become any of them. */
	readonly words?: Pick<RegExp, "test">;
	/** The same for words that begin with a dash. */
	readonly options?: RegExp;
	/** Whether its options may stand after files. */
	readonly anywhere?: true;
	/** How many words that are no options it may have. */
	readonly operands?: number;
	/** Follows the program and the word: "git -c …" and so on. */
	readonly reason: string;
}

type RiskyWords = Pick<RiskRow, "short" | "long" | "words" | "options">;

/** Whether a word is one of the row's, or may become one. Those that may become an option are found before. */
export function isRiskyWord(word: Word, row: RiskyWords): boolean {
	return word.kind === "dynamic" ? row.words !== undefined : isRisky(word.text, row);
}

function isRisky(text: string, { short = "", long = "", words, options }: RiskyWords): boolean {
	if (words?.test(text) || options?.test(text)) return true;
	if (text.startsWith("--")) {
		const name = /^--([^=]*)/.exec(text)?.[1] ?? "";
		return name !== "" && long.split(" ").some((option) => option !== "" && option.startsWith(name));
	}
	return /^-./.test(text) && [...text.slice(1)].some((letter) => short.includes(letter));
}
