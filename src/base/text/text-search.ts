/** For longer texts the engine takes quadratic time, such as a minute for 100,000 characters in a million. */
const longestForEngine = 250;

/** The position of the first match at or after `from`, or -1. */
export type TextSearch = (text: string, from: number) => number;

export function createTextSearch(piece: string): TextSearch {
	if (piece.length <= longestForEngine) return (text, from) => text.indexOf(piece, from);
	let units: Uint16Array | null = null;
	let fallbacks: Int32Array | null = null;
	return (text, from) => {
		if (text.length - from < piece.length) return -1;
		units ??= unitsOf(piece);
		fallbacks ??= fallbacksOf(units);
		return find(units, fallbacks, text, from);
	};
}

function unitsOf(text: string): Uint16Array {
	const units = new Uint16Array(text.length);
	for (let index = 0; index < units.length; index += 1) units[index] = text.charCodeAt(index);
	return units;
}

/** For every prefix, the length of its longest proper prefix that is also its suffix (Knuth, Morris, Pratt). */
function fallbacksOf(piece: Uint16Array): Int32Array {
	const fallbacks = new Int32Array(piece.length);
	let length = 0;
	for (let index = 1; index < piece.length; index += 1) {
		const unit = piece[index];
		while (length > 0 && piece[length] !== unit) length = fallbacks[length - 1] ?? 0;
		if (piece[length] === unit) length += 1;
		fallbacks[index] = length;
	}
	return fallbacks;
}

function find(piece: Uint16Array, fallbacks: Int32Array, text: string, from: number): number {
	let length = 0;
	for (let index = from; index < text.length; index += 1) {
		const unit = text.charCodeAt(index);
		while (length > 0 && piece[length] !== unit) length = fallbacks[length - 1] ?? 0;
		if (piece[length] === unit) length += 1;
		if (length === piece.length) return index + 1 - length;
	}
	return -1;
}
