// Lines that are too long to be put together. A prompt of many megabytes is kept and told several times: each copy of it
// as one text, and as one buffer of bytes, would have to be in memory at once.
import { toJsonLine } from "./json.ts";

/** A text in pieces, which are made when they are asked for, the same each time. */
export interface LongText extends Iterable<string> {
	/** Characters, more or less: what is escaped counts once. */
	readonly length: number;
}

export type LineText = string | LongText;

/** Characters of texts in a value above which its line is made in pieces. */
const longLength = 1024 * 1024;

/** Characters of a piece, more or less. */
const pieceLength = 64 * 1024;

/** The value as `toJsonLine` gives it, in pieces when it is long. */
export function toLineText(value: unknown): LineText {
	const length = textLength(value, longLength);
	if (length <= longLength) return toJsonLine(value);
	return { length: textLength(value, Number.POSITIVE_INFINITY), [Symbol.iterator]: () => jsonPieces(value) };
}

/** The texts with the ending behind each. */
export function joinLines(texts: readonly LineText[], ending: string): LineText {
	const plain = texts.filter((text) => typeof text === "string");
	if (plain.length === texts.length) return `${plain.join(ending)}${ending}`;
	return {
		length: texts.reduce((sum, { length }) => sum + length + ending.length, 0),
		*[Symbol.iterator]() {
			for (const text of texts) {
				if (typeof text === "string") yield text;
				else yield* text;
				yield ending;
			}
		},
	};
}

/** A long text after all as one. */
export function wholeText(text: LineText): string {
	return typeof text === "string" ? text : [...text].join("");
}

/** Characters of the texts in a value; looked at no further once there are more than `enough`. */
function textLength(value: unknown, enough: number): number {
	if (typeof value === "string") return value.length;
	if (typeof value !== "object" || value === null) return 0;
	let length = 0;
	for (const inner of Object.values(value)) {
		length += textLength(inner, enough - length);
		if (length > enough) break;
	}
	return length;
}

function* jsonPieces(value: unknown): Generator<string> {
	if (typeof value === "string") {
		yield '"';
		for (const piece of textPieces(value)) yield toJsonLine(piece).slice(1, -1);
		yield '"';
	} else if (textLength(value, pieceLength) <= pieceLength) {
		yield toJsonLine(value);
	} else if (Array.isArray(value)) {
		let mark = "[";
		for (const item of value) {
			yield mark;
			yield* jsonPieces(item ?? null);
			mark = ",";
		}
		yield "]";
	} else {
		let mark = "{";
		for (const [key, inner] of Object.entries(value ?? {})) {
			if (inner === undefined) continue;
			yield `${mark}${toJsonLine(key)}:`;
			yield* jsonPieces(inner);
			mark = ",";
		}
		yield "}";
	}
}

/** Parts of a text that cut no character in two: half of one would be escaped. */
function* textPieces(text: string): Generator<string> {
	for (let start = 0; start < text.length; ) {
		const end = start + pieceLength;
		const last = text.charCodeAt(end - 1);
		const next = last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
		yield text.slice(start, next);
		start = next;
	}
}
