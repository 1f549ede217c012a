// Handles lone surrogates, which truncation and escapes leave. Strict JSON parsers reject them.

export function toWellFormed(text: string): string {
	return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}

export function beginning(text: string, length: number): string {
	if (text.length <= length) return text;
	const last = text.charCodeAt(length - 1);
	return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The longest suffix of at most `length` UTF-16 units with only whole characters. */
export function ending(text: string, length: number): string {
	if (text.length <= length) return text;
	const start = text.length - length;
	const first = text.charCodeAt(start);
	return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}
