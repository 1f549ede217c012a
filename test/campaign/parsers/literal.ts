// Quote removal for the names of programs, written from the manual of bash and apart from the product's own: what two
// parsers give as text is compared by it.

const ansiEscapes: Readonly<Record<string, string>> = {
	a: "\x07",
	b: "\b",
	e: "\x1b",
	E: "\x1b",
	f: "\f",
	n: "\n",
	r: "\r",
	t: "\t",
	v: "\v",
	"\\": "\\",
	"'": "'",
	'"': '"',
	"?": "?",
};

/** The text that a word stands for; null when only the shell that runs it knows. */
export function literalOf(word: string): string | null {
	let text = "";
	for (let at = 0; at < word.length; ) {
		const rest = word.slice(at);
		const piece =
			readAnsi(rest) ??
			readSingle(rest) ??
			readDouble(rest) ??
			readEscape(rest) ??
			(/^[$`*?[<>(){]/.test(rest) ? null : [rest.slice(0, 1), 1]);
		if (piece === null) return null;
		text += piece[0];
		at += piece[1];
	}
	return word.startsWith("~") ? null : text;
}

/** The text of a piece, and how many characters it is written with. */
type Piece = readonly [string, number];

function readSingle(rest: string): Piece | null {
	const found = /^'([^']*)'/.exec(rest);
	return found === null ? null : [found[1] ?? "", found[0].length];
}

function readEscape(rest: string): Piece | null {
	const found = /^\\([\s\S])/.exec(rest);
	return found === null ? null : [found[1] === "\n" ? "" : (found[1] ?? ""), 2];
}

/** Without expansions; a locale string that nobody translated is the same. */
function readDouble(rest: string): Piece | null {
	const found = /^\$?"((?:[^"\\$`]|\\[\s\S]|\$(?=[^\w({['"@*#?$!-]|$))*)"/.exec(rest);
	if (found === null) return null;
	const text = (found[1] ?? "").replaceAll(/\\([$`"\\\n])/g, (_, character: string) =>
		character === "\n" ? "" : character,
	);
	return [text, found[0].length];
}

function readAnsi(rest: string): Piece | null {
	const found = /^\$'((?:[^'\\]|\\[\s\S])*)'/.exec(rest);
	if (found === null) return null;
	const escapes = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;
	const text = (found[1] ?? "").replaceAll(
		escapes,
		(all, hex?: string, short?: string, long?: string, octal?: string, control?: string, other?: string) => {
			const digits = hex ?? short ?? long;
			if (digits !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(digits, 16), 0x10ffff));
			if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
			if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) ^ 0x40);
			return ansiEscapes[other ?? ""] ?? all;
		},
	);
	// A zero byte ends the string.
	return [text.replace(/\0[\s\S]*/, ""), found[0].length];
}
