// Splits bytes into lines on LF (0x0A) only: U+2028 and a lone CR are legal inside JSON text. A line over the limit is
// reported once and skipped to its newline, never buffered.

/** A line without its newline, or the report that one was too long and was dropped. */
export type Line = { readonly kind: "line"; readonly text: string } | { readonly kind: "oversized" };

export interface LineSplitter {
	/** Adds the next bytes and returns the lines they complete. */
	push(bytes: Buffer): Line[];
	/** Ends the input; a last line without newline still counts. */
	end(): Line[];
}

const newline = 0x0a;
const emptyLine: Line = { kind: "line", text: "" };

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
			// Of empty lines thousands fit into few bytes.
			const isEmptyLine = () => length === 0 && !skipping && bytes[start] === newline;
			for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
				if (isEmptyLine()) lines.push(emptyLine);
				else {
					add(take(bytes.subarray(start, end)));
					add(complete());
				}
				start = end + 1;
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
