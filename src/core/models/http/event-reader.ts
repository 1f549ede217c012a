/** One event. A line with the field `error` instead of `data` counts as an event named error. */
export interface ServerEvent {
	readonly event: string | null;
	readonly data: string;
	/** Whether only the end of the stream ended the event, which may be truncated. */
	readonly cut: boolean;
}

export interface EventReader {
	/** The events completed by this text; null if one exceeds the limit, after which reading stops. */
	read(text: string): readonly ServerEvent[] | null;
	end(): readonly ServerEvent[];
}

/** `limit` is the maximum event length in characters. */
export function createEventReader(limit: number): EventReader {
	/** The current line and its length. */
	let pieces: string[] = [];
	let held = 0;
	/** Whether the previous line ended with a CR, which an LF may follow. */
	let isAfterCr = false;
	let name: string | null = null;
	let lines: string[] = [];
	let events: ServerEvent[] = [];
	let cut = false;

	const takeLine = (line: string) => {
		if (line === "") {
			if (lines.length > 0) events.push({ event: name, data: lines.join("\n"), cut });
			name = null;
			lines = [];
			held = 0;
			return;
		}
		const colon = line.indexOf(":");
		const field = colon === -1 ? line : line.slice(0, colon);
		const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
		if (field === "data") {
			lines.push(value);
			return;
		}
		held -= line.length;
		if (field === "event") name = value === "" ? null : value;
		else if (field === "error") events.push({ event: "error", data: value, cut });
	};

	const readLines = (text: string) => {
		let start = isAfterCr && text.startsWith("\n") ? 1 : 0;
		isAfterCr = false;
		// Minus one means not found.
		let lf = -2;
		let cr = -2;
		for (;;) {
			// Each search resumes only after its last hit, so that no character is read twice.
			if (lf !== -1 && lf < start) lf = text.indexOf("\n", start);
			if (cr !== -1 && cr < start) cr = text.indexOf("\r", start);
			const end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf;
			const piece = text.slice(start, end === -1 ? text.length : end);
			held += piece.length;
			if (held > limit) return;
			if (end === -1) {
				if (piece !== "") pieces.push(piece);
				return;
			}
			const line = pieces.length === 0 ? piece : pieces.join("") + piece;
			pieces = [];
			takeLine(line);
			start = end + 1;
			if (end !== cr) continue;
			if (start === text.length) isAfterCr = true;
			else if (text[start] === "\n") start += 1;
		}
	};

	const take = () => {
		const taken = events;
		events = [];
		return taken;
	};

	return {
		read(text) {
			if (text !== "" && held <= limit) readLines(text);
			return held > limit ? null : take();
		},
		end() {
			// Some servers omit the blank line after the last event.
			cut = true;
			readLines("\n\n");
			return take();
		},
	};
}
