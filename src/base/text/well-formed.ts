// Text without halves of surrogate pairs, which cuts and escapes leave. No strict parser of JSON accepts them.

/** The text with U+FFFD for every half of a pair that is without the other. */
export function toWellFormed(text: string): string {
	return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}

/** The longest beginning of at most `length` UTF-16 units that contains only whole characters. */
export function beginning(text: string, length: number): string {
	if (text.length <= length) return text;
	const last = text.charCodeAt(length - 1);
	return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The longest end of at most `length` UTF-16 units that contains only whole characters. */
export function ending(text: string, length: number): string {
	if (text.length <= length) return text;
	const start = text.length - length;
	const first = text.charCodeAt(start);
	return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}
