// A prompt of many megabytes is stored and delivered several times, so large values are serialized in pieces.
import { isRecord, toJsonLine } from "../json.ts";

export interface LongText extends Iterable<string> {
	/** Approximate number of characters: an escaped one counts once. */
	readonly length: number;
}

export type LineText = string | LongText;

const longLength = 1024 * 1024;

const pieceLength = 64 * 1024;

export function toLineText(value: unknown): LineText {
	const length = textLength(value, longLength);
	if (length <= longLength) return toJsonLine(value);
	return { length: textLength(value, Number.POSITIVE_INFINITY), [Symbol.iterator]: () => jsonPieces(value) };
}

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

export function wholeText(text: LineText): string {
	return typeof text === "string" ? text : [...text].join("");
}

/** Characters of the texts in a value; stops counting above `enough`. */
function textLength(value: unknown, enough: number): number {
	if (typeof value === "string") return value.length;
	let length = 0;
	if (Array.isArray(value)) {
		for (const inner of value) {
			length += textLength(inner, enough - length);
			if (length > enough) break;
		}
	} else if (isRecord(value)) {
		for (const key of Object.keys(value)) {
			length += textLength(value[key], enough - length);
			if (length > enough) break;
		}
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

/** Splits a text without breaking surrogate pairs, whose halves would be escaped. */
function* textPieces(text: string): Generator<string> {
	for (let start = 0; start < text.length; ) {
		const end = start + pieceLength;
		const last = text.charCodeAt(end - 1);
		const next = last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
		yield text.slice(start, next);
		start = next;
	}
}
