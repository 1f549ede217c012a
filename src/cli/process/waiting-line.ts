// A line on a terminal for work that takes longer than a second: what goes on, and for how long. Where stderr is no
// terminal nothing of it is written.
import { type Clock, systemClock } from "../../base/clock.ts";
import { onOneLine } from "../printable-text.ts";
import { writeNotice } from "./standard-error.ts";

export interface WaitingLineSettings {
	readonly clock: Clock;
	/** Null when stderr is no terminal. */
	readonly terminal: { columns(): number; write(text: string): void } | null;
}

/** Milliseconds after which the line appears, and between two updates. */
const patience = 1000;

const eraseLine = "\r\u001b[K";

/** The terminal of this process; one that does not know its size is taken for a usual one. */
export function processTerminal(): WaitingLineSettings {
	const { isTTY, columns } = process.stderr;
	const terminal = isTTY ? { columns: () => columns || 80, write: writeNotice } : null;
	return { clock: systemClock, terminal };
}

/**
 * Does the work; `what` says what goes on, such as "Installing the plugin". Work that prints meanwhile calls `clear` before:
 * the line comes again by itself.
 */
export async function whileShown<Result>(
	what: string,
	work: (clear: () => void) => Promise<Result>,
	{ clock, terminal }: WaitingLineSettings = processTerminal(),
): Promise<Result> {
	if (terminal === null) return await work(() => {});
	const startedAt = clock.monotonic();
	let isShown = false;
	const show = () => {
		const seconds = Math.floor((clock.monotonic() - startedAt) / 1000);
		terminal.write(`${eraseLine}${onOneLine(`${what}, ${seconds} s`, terminal.columns() - 1)}`);
		isShown = true;
		withdraw = clock.after(patience, show, true);
	};
	const clear = () => {
		if (isShown) terminal.write(eraseLine);
		isShown = false;
	};
	let withdraw = clock.after(patience, show, true);
	try {
		return await work(clear);
	} finally {
		withdraw();
		clear();
	}
}
