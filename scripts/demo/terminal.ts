// How the demo writes: colors when a person is looking, lines that fit 80 columns. It knows nothing of agents.
import { stripVTControlCharacters } from "node:util";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const codes: { readonly [S in Style]: number } = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Columns of a name at the start of a line, and of the whole line. */
const labelWidth = 9;
const lineWidth = 80;

export interface Terminal {
	/** Whether a person can be asked. */
	readonly isAttended: boolean;
	styled(style: Style, text: string): string;
	blank(): void;
	/** The heading of a part of the demo. */
	heading(text: string): void;
	/** One line of text after a label, cut to the width of the terminal. */
	line(label: string, text: string, style?: Style): void;
	/** One line as it is and whole, however long: for what a person is to judge. */
	wholeLine(label: string, text: string, style?: Style): void;
	/** Running text after a label, broken at spaces. */
	paragraph(label: string, text: string, style?: Style): void;
}

/** `useColor` asks for ANSI styles; `isAttended` says whether a person sits in front. */
export function createTerminal(
	write: (text: string) => void,
	{ useColor, isAttended }: { readonly useColor: boolean; readonly isAttended: boolean },
): Terminal {
	const styled = (style: Style, text: string) => (useColor ? `\u001b[${codes[style]}m${text}\u001b[0m` : text);
	const put = (label: string, text: string, style: Style | null) => {
		const shown = style === null ? text : styled(style, text);
		write(`${`${styled("dim", label.padEnd(labelWidth))} ${shown}`.trimEnd()}\n`);
	};
	return {
		isAttended,
		styled,
		blank: () => write("\n"),
		heading(text) {
			const rule = "─".repeat(Math.max(0, lineWidth - text.length - 4));
			write(`\n${styled("dim", "──")} ${styled("bold", text)} ${styled("dim", rule)}\n\n`);
		},
		line: (label, text, style) => put(label, cut(text, lineWidth - labelWidth - 1), style ?? null),
		wholeLine: (label, text, style) => put(label, text, style ?? null),
		paragraph(label, text, style) {
			for (const [index, line] of wrap(text, lineWidth - labelWidth - 1).entries()) {
				put(index === 0 ? label : "", line, style ?? null);
			}
		},
	};
}

/** A text from elsewhere without anything that would steer the terminal; line ends and tabs stay. */
export function toPrintable(text: string): string {
	return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, "·");
}

/** Cut texts lose their styles, lest one never end. */
function cut(text: string, width: number): string {
	const plain = [...stripVTControlCharacters(text).replaceAll("	", "  ")];
	return plain.length <= width ? text.replaceAll("	", "  ") : `${plain.slice(0, width - 1).join("")}…`;
}

function wrap(text: string, width: number): string[] {
	return text
		.trim()
		.split("\n")
		.flatMap((paragraph) => {
			const lines: string[] = [];
			let line = "";
			for (const word of paragraph.split(/\s+/)) {
				if (line !== "" && line.length + 1 + word.length > width) {
					lines.push(line);
					line = word;
				} else line = line === "" ? word : `${line} ${word}`;
			}
			return [...lines, line];
		});
}
