// A line for work that takes longer than a second. Prints nothing if stderr is not a terminal.
import { type Clock, systemClock } from "../../base/clock.ts";
import { onOneLine } from "../printable-text.ts";
import { writeNotice } from "./standard-error.ts";

export interface WaitingLineSettings {
	readonly clock: Clock;
	readonly terminal: { columns(): number; write(text: string): void } | null;
}

/** Milliseconds before the line appears, and between updates. */
const patience = 1000;

const eraseLine = "\r\u001b[K";

export function processTerminal(): WaitingLineSettings {
	const { isTTY, columns } = process.stderr;
	const terminal = isTTY ? { columns: () => columns || 80, write: writeNotice } : null;
	return { clock: systemClock, terminal };
}

/** `what` names the activity. Work that prints calls `clear` first; the line reappears by itself. */
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
