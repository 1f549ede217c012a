// Splits on LF only: U+2028 and a lone CR are legal inside JSON text. Overlong lines are reported and skipped.

export type Line = { readonly kind: "line"; readonly text: string } | { readonly kind: "oversized" };

export interface LineSplitter {
	push(bytes: Buffer): Line[];
	end(): Line[];
}

const newline = 0x0a;
const emptyLine: Line = { kind: "line", text: "" };

function splitText(text: string, lines: Line[]): void {
	let start = 0;
	for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
		// A few bytes may contain thousands of empty lines.
		lines.push(end === start ? emptyLine : { kind: "line", text: text.slice(start, end) });
		start = end + 1;
	}
	lines.push(start === text.length ? emptyLine : { kind: "line", text: text.slice(start) });
}

/** `limit` is the longest line in bytes, newline excluded. Invalid UTF-8 becomes U+FFFD. */
export function createLineSplitter(limit: number): LineSplitter {
	let pieces: Buffer[] = [];
	let length = 0;
	let skipping = false;

	const complete = (): Line | null => {
		if (skipping) {
			skipping = false;
			return null;
		}
		if (length === 0) return emptyLine;
		const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length);
		pieces = [];
		length = 0;
		return { kind: "line", text: bytes.toString("utf8") };
	};

	const take = (bytes: Buffer): Line | null => {
		if (skipping || bytes.length === 0) return null;
		if (length + bytes.length > limit) {
			skipping = true;
			pieces = [];
			length = 0;
			return { kind: "oversized" };
		}
		pieces.push(bytes);
		length += bytes.length;
		return null;
	};

	return {
		push(bytes) {
			const lines: Line[] = [];
			const add = (line: Line | null) => {
				if (line !== null) lines.push(line);
			};
			let start = 0;
			if (length > 0 || skipping) {
				const end = bytes.indexOf(newline);
				add(take(bytes.subarray(0, end === -1 ? bytes.length : end)));
				if (end === -1) return lines;
				add(complete());
				start = end + 1;
			}
			const last = bytes.lastIndexOf(newline);
			if (last >= start) {
				// Decode lines within the limit together: separate decoding takes several times as long.
				if (last - start <= limit) splitText(bytes.toString("utf8", start, last), lines);
				else {
					for (let end = bytes.indexOf(newline, start); end !== -1; end = bytes.indexOf(newline, start)) {
						add(take(bytes.subarray(start, end)));
						add(complete());
						start = end + 1;
					}
				}
				start = last + 1;
			}
			add(take(bytes.subarray(start)));
			return lines;
		},
		end() {
			if (skipping || length === 0) return [];
			const line = complete();
			return line === null ? [] : [line];
		},
	};
}

/** The same for program input: skips a byte order mark before the first line. */
export function createInputSplitter(limit: number): LineSplitter {
	const splitter = createLineSplitter(limit);
	let isFirst = true;
	const skipMark = (lines: Line[]): Line[] => {
		const [first, ...others] = lines;
		if (!isFirst || first === undefined) return lines;
		isFirst = false;
		return first.kind === "line" ? [{ kind: "line", text: withoutMark(first.text) }, ...others] : lines;
	};
	return { push: (bytes) => skipMark(splitter.push(bytes)), end: () => skipMark(splitter.end()) };
}

export function withoutMark(text: string): string {
	return text.startsWith("\ufeff") ? text.slice(1) : text;
}
