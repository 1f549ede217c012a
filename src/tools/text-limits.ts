// Truncates text without splitting a character.

/** The longest beginning of at most `length` UTF-16 units that contains only whole characters. */
export function beginning(text: string, length: number): string {
	if (text.length <= length) return text;
	const last = text.charCodeAt(length - 1);
	return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The line, truncated if necessary to at most `length` units with the marker at its end. */
export function cutLine(line: string, length: number, marker: string): string {
	return line.length <= length ? line : beginning(line, Math.max(0, length - marker.length)) + marker;
}
