// Whether a word of `sed` may have its command `e`, or the flag `e` of its `s`, which run what they are given. Looked for letter
// by letter: a regular expression that finds them takes a time that grows with the square of the text.

/** Flags of `s` that may stand before its `e`, besides digits. */
const flags = "gpiIMm";
const afterFlag = /[\s;}]/;
const beforeCommand = /[\d$!;{\n]/;
const isLetter = /[A-Za-z]/;

/** True also for some other texts in which a letter `e` stands so. */
export function runsInSed(text: string): boolean {
	// A bundle of short options.
	if (/^-[A-Za-z]+$/.test(text)) return false;
	for (let at = text.indexOf("e"); at !== -1; at = text.indexOf("e", at + 1)) {
		const next = text[at + 1];
		if ((next === undefined || afterFlag.test(next)) && isFlag(text, at)) return true;
		if (isCommand(text, at)) return true;
	}
	return false;
}

/** Whether only flags are between the letter and what is no letter, or the beginning. */
function isFlag(text: string, at: number): boolean {
	let before = at - 1;
	while (before >= 0 && flags.includes(text[before] ?? "")) before -= 1;
	return before < 0 || !isLetter.test(text[before] ?? "");
}

/** Whether the letter stands where a command begins: at the beginning, or after an address. */
function isCommand(text: string, at: number): boolean {
	let before = skipBlanks(text, at - 1);
	if (before < 0 || beforeCommand.test(text[before] ?? "")) return true;
	if (text[before] !== "/") return false;
	before = text.lastIndexOf("/", before - 1);
	if (before <= -1) return false;
	before = skipBlanks(text, before - 1);
	return before < 0 || /[;{\n]/.test(text[before] ?? "");
}

function skipBlanks(text: string, from: number): number {
	let at = from;
	while (at >= 0 && text[at] !== "\n" && /\s/.test(text[at] ?? "")) at -= 1;
	return at;
}
