// Output as a terminal shows it after redraws, shortened in the middle.
import { beginning, ending } from "../../base/text/well-formed.ts";
import { lineLimit, outputLimit } from "./output-builder.ts";

export interface ShownOutput {
	readonly text: string;
	readonly isShortened: boolean;
	readonly lastLines: readonly string[];
}

export interface OutputView {
	write(text: string): void;
	/** `headShare` is the share of the limit for the beginning. */
	finish(headShare: number): ShownOutput;
}

/** Maximum lines that a program can move back to redraw. */
const redrawnLines = 100;
const lastLineCount = 5;
/** Characters reserved for the truncation note. */
const markLength = 100;

const markFor = (characters: number, lines: number): string =>
	`[... ${characters} characters${lines === 0 ? "" : ` in ${lines} ${lines === 1 ? "line" : "lines"}`} left out ...]`;

/** A line; drops the middle of a long one. */
class Line {
	#head = "";
	#tail = "";
	length = 0;
	/** Whether the next text overwrites this one. */
	isOver = false;
	wasRedrawn = false;
	end = "";

	add(text: string): void {
		if (text === "") return;
		if (this.isOver) {
			this.clear();
			this.wasRedrawn = true;
		}
		this.length += text.length;
		const room = lineLimit - this.#head.length;
		if (room > 0) this.#head += text.slice(0, room);
		if (text.length > room) this.#tail = (this.#tail + text.slice(Math.max(0, room))).slice(-lineLimit);
	}

	clear(): void {
		this.#head = "";
		this.#tail = "";
		this.length = 0;
		this.isOver = false;
	}

	back(): void {
		if (this.length === 0 || this.#tail !== "") return;
		this.#head = beginning(this.#head, this.#head.length - 1);
		this.length = this.#head.length;
	}

	get isCut(): boolean {
		return this.length > lineLimit;
	}

	toString(): string {
		if (!this.isCut) return this.#head + this.#tail;
		const half = (lineLimit - markLength) / 2;
		const head = beginning(this.#head, half);
		const tail = ending(this.#head + this.#tail, half);
		return `${head}${markFor(this.length - head.length - tail.length, 0)}${tail}`;
	}
}

/** A line break, carriage return, backspace, or a sequence that moves the cursor or erases. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const controls = /\r?\n|\r|\x08|\x1b\[(\d*)([AFGJK])/g;
/** A possible start of such a sequence at the end of a piece. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const openControl = /(?:\r|\x1b(?:\[\d{0,4})?)$/;

export function createOutputView(): OutputView {
	const head: string[] = [];
	let headLength = 0;
	let tail: string[] = [];
	let tailLength = 0;
	/** The dropped part between head and tail. */
	const dropped = { characters: 0, lines: 0 };
	let hasCutLines = false;
	let lines: Line[] = [new Line()];
	let row = 0;
	let rest = "";

	const retain = (line: string): void => {
		if (tail.length === 0 && headLength + line.length <= outputLimit) {
			head.push(line);
			headLength += line.length;
			return;
		}
		tail.push(line);
		tailLength += line.length;
		if (tailLength <= 2 * outputLimit) return;
		let gone = 0;
		for (; tailLength > outputLimit; gone += 1) {
			const length = tail[gone]?.length ?? 0;
			tailLength -= length;
			dropped.characters += length;
		}
		tail = tail.slice(gone);
		dropped.lines += gone;
	};
	const settle = (line: Line): void => {
		if (line.isCut) hasCutLines = true;
		retain(`${line}${line.end}`);
	};
	const current = (): Line => {
		const line = lines[row] ?? new Line();
		lines[row] = line;
		return line;
	};
	const nextLine = (end: string): void => {
		// The preceding carriage return belonged to a redraw.
		current().end = current().wasRedrawn ? "\n" : end;
		row += 1;
		if (lines[row] === undefined) lines.push(new Line());
		else current().isOver = true;
		if (lines.length < 2 * redrawnLines) return;
		for (const line of lines.splice(0, redrawnLines)) settle(line);
		row = Math.max(0, row - redrawnLines);
	};
	const up = (count: number): void => {
		row = Math.max(0, row - count);
		current().isOver = true;
	};
	const control = (sequence: string, number: string | undefined, letter: string | undefined): void => {
		if (sequence.endsWith("\n")) nextLine(sequence);
		else if (sequence === "\r") current().isOver = true;
		else if (sequence === "\b") current().back();
		else if (letter === "A" || letter === "F") up(Number(number || 1));
		else if (letter === "G") current().isOver = Number(number || 1) === 1;
		else if (letter === "J" && current().isOver) lines = lines.slice(0, row + 1);
		if ((letter === "K" || letter === "J") && (current().isOver || number === "2")) current().clear();
	};

	return {
		write(piece) {
			const text = rest + piece;
			const whole = text.slice(0, openControl.exec(text)?.index ?? text.length);
			rest = text.slice(whole.length);
			let start = 0;
			for (const found of whole.matchAll(controls)) {
				current().add(whole.slice(start, found.index));
				control(found[0], found[1], found[2]);
				start = found.index + found[0].length;
			}
			current().add(whole.slice(start));
		},
		finish(headShare) {
			if (rest !== "" && rest !== "\r") current().add(rest);
			for (const line of lines) settle(line);
			const all = [...head, ...tail];
			const lastLines = all
				.map((line) => line.trim())
				.filter((line) => line !== "")
				.slice(-lastLineCount);
			if (dropped.lines === 0 && headLength + tailLength <= outputLimit) {
				return { text: all.join(""), isShortened: hasCutLines, lastLines };
			}
			const room = outputLimit - markLength;
			const first = fitting(all, room * headShare);
			const last = fitting(all.slice(first.length).reverse(), room - lengthOf(first)).reverse();
			const between = all.slice(first.length, all.length - last.length);
			const mark = markFor(lengthOf(between) + dropped.characters, between.length + dropped.lines);
			return { text: [...first, mark, "\n", ...last].join(""), isShortened: true, lastLines };
		},
	};
}

/** The text a terminal shows after all redraws, for short texts. */
export function withoutRedraws(text: string): string {
	const view = createOutputView();
	view.write(text);
	return view.finish(1 / 2).text;
}

/** The leading lines that fit into this many characters. */
function fitting(lines: readonly string[], room: number): string[] {
	let length = 0;
	const end = lines.findIndex((line) => {
		length += line.length;
		return length > room;
	});
	return lines.slice(0, end === -1 ? lines.length : end);
}

function lengthOf(lines: readonly string[]): number {
	return lines.reduce((sum, line) => sum + line.length, 0);
}
