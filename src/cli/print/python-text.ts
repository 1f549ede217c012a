// Values as Python prints them in kimi-cli: 80 columns, indented by four, overlong lines cut.

export type PythonValue =
	| { readonly kind: "object"; readonly name: string; readonly fields: readonly (readonly [string, PythonValue])[] }
	| { readonly kind: "list"; readonly items: readonly PythonValue[] }
	| { readonly kind: "dict"; readonly entries: readonly (readonly [string, PythonValue])[] }
	| { readonly kind: "text"; readonly text: string };

const width = 80;
const indentation = 4;

export function layOut(value: PythonValue): string {
	return `${lines(value, 0, "", "").flatMap(fold).join("\n")}\n`;
}

/** Cuts the text to the width, with a final newline. */
export function foldText(text: string): string {
	return `${text.split("\n").flatMap(fold).join("\n")}\n`;
}

function lines(value: PythonValue, indent: number, before: string, after: string): string[] {
	const blanks = " ".repeat(indent);
	const whole = `${before}${oneLiner(value)}`;
	const parts = toParts(value);
	// Nested values need room for a comma and a space, which are cut off afterwards.
	const room = indent === 0 ? 0 : 2;
	if (parts === null || parts.items.length === 0 || indent + cells(whole) + room <= width)
		return [`${blanks}${whole}${after}`];
	const last = parts.items.length - 1;
	return [
		`${blanks}${before}${parts.open}`,
		...parts.items.flatMap(([key, item], index) => lines(item, indent + indentation, key, index === last ? "" : ",")),
		`${blanks}${parts.close}${after}`,
	];
}

interface Parts {
	readonly open: string;
	readonly close: string;
	/** Each item with its prefix. */
	readonly items: readonly (readonly [string, PythonValue])[];
}

function toParts(value: PythonValue): Parts | null {
	switch (value.kind) {
		case "object":
			return { open: `${value.name}(`, close: ")", items: value.fields.map(([key, field]) => [`${key}=`, field]) };
		case "list":
			return { open: "[", close: "]", items: value.items.map((item) => ["", item]) };
		case "dict":
			return { open: "{", close: "}", items: value.entries.map(([key, entry]) => [`${quote(key)}: `, entry]) };
		case "text":
			return null;
	}
}

function oneLiner(value: PythonValue): string {
	if (value.kind === "text") return value.text;
	const parts = toParts(value);
	if (parts === null) return "";
	return `${parts.open}${parts.items.map(([key, item]) => `${key}${oneLiner(item)}`).join(", ")}${parts.close}`;
}

function fold(line: string): string[] {
	if (line.length * 2 <= width) return [line];
	const pieces: string[] = [];
	let piece = "";
	let used = 0;
	for (const character of line) {
		const size = cells(character);
		if (used + (/\s/.test(character) ? 0 : size) > width) {
			pieces.push(withoutExcess(piece, used));
			piece = "";
			used = 0;
		}
		piece += character;
		used += size;
	}
	return [...pieces, withoutExcess(piece, used)];
}

function withoutExcess(piece: string, used: number): string {
	const blanks = /\s*$/.exec(piece)?.[0].length ?? 0;
	return piece.slice(0, piece.length - Math.max(0, Math.min(blanks, used - width)));
}

const wide =
	/[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

function cells(text: string): number {
	let count = 0;
	for (const character of text) count += wide.test(character) ? 2 : /\p{M}/u.test(character) ? 0 : 1;
	return count;
}

const shortEscapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export function quote(text: string): string {
	const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
	const inside = text.replace(/[\\\n\r\t]|(?! )[\p{C}\p{Z}]/gu, escapeCharacter).replaceAll(mark, `\\${mark}`);
	return `${mark}${inside}${mark}`;
}

function escapeCharacter(character: string): string {
	const short = shortEscapes[character];
	if (short !== undefined) return short;
	const code = character.codePointAt(0) ?? 0;
	if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
	return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

export function floatText(value: number): string {
	const size = Math.abs(value);
	if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
		const [mantissa = "", exponent = ""] = value.toExponential().split("e");
		return `${mantissa}e${exponent.startsWith("-") ? "-" : "+"}${exponent.slice(1).padStart(2, "0")}`;
	}
	return Number.isInteger(value) ? `${value}.0` : String(value);
}
