// A row of the table of risky options, and the words that belong to it.

export interface RiskRow {
	readonly programs: string;
	/** Letters of short options, alone or in a bundle. */
	readonly short?: string;
	/** Long options without dashes; abbreviations of them count. */
	readonly long?: string;
	/** Tested on every word. */
	readonly words?: RegExp;
	/** How many words that are no options it may have. */
	readonly operands?: number;
	/** Follows the program and the word: "git -c …" and so on. */
	readonly reason: string;
}

/** Whether a word is one of the row's. */
export function isRisky(
	text: string,
	{ short = "", long = "", words }: Pick<RiskRow, "short" | "long" | "words">,
): boolean {
	if (words?.test(text)) return true;
	if (text.startsWith("--")) {
		const name = /^--([^=]*)/.exec(text)?.[1] ?? "";
		return name !== "" && long.split(" ").some((option) => option !== "" && option.startsWith(name));
	}
	return /^-./.test(text) && [...text.slice(1)].some((letter) => short.includes(letter));
}
