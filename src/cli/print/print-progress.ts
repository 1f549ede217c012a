// The progress line of print mode: the turn's activity, step and seconds, on the last terminal line.

import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import { onOneLine } from "../printable-text.ts";
import { callLine } from "./print-text.ts";

export interface Progress {
	take(event: AgentEvent): void;
	/** Removes the line to make room for other output; it reappears while a turn runs. */
	clear(): void;
	end(): void;
}

/** Used if stderr is not a terminal. */
export const noProgress: Progress = { take() {}, clear() {}, end() {} };

export interface ProgressSettings {
	readonly clock: Clock;
	write(text: string): void;
	columns(): number;
	/** The cursor column of other output on the terminal; 0 at the start of a line. Null if no line may be drawn. */
	column(): number | null;
}

/** Update interval in milliseconds. */
const interval = 250;

const eraseLine = "\r\u001b[K";
const waiting = "waiting for the model";

export function createProgress({ clock, write, columns, column }: ProgressSettings): Progress {
	const calls = new Map<string, string>();
	let doing = waiting;
	let step = 0;
	let startedAt = clock.monotonic();
	let shown = "";
	/** The column to return to in the line above; 0 if the progress line is at the cursor. */
	let above = 0;
	let withdraw: (() => void) | null = null;
	let isRunning = false;
	let hasEnded = false;

	const render = (): string => {
		const stepText = step === 0 ? "" : `, step ${step}`;
		const rest = `${stepText}, ${Math.floor((clock.monotonic() - startedAt) / 1000)} s`;
		const [first] = calls.values();
		const activity = calls.size > 1 ? `${calls.size} calls, first ${first}` : (first ?? doing);
		const width = columns() - 1;
		return cutToWidth(`${cutToWidth(activity, width - rest.length).trimEnd()}${rest}`, width);
	};
	const clear = (): void => {
		if (shown !== "") write(above === 0 ? eraseLine : `${eraseLine}\u001b[A\u001b[${above + 1}G`);
		shown = "";
	};
	const tick = (): void => {
		const text = render();
		const at = shown === "" ? column() : above;
		if (at !== null && text !== shown) {
			write(`${shown === "" && at > 0 ? "\n" : ""}${eraseLine}${text}`);
			above = at;
			shown = text;
		}
		withdraw = clock.after(interval, tick);
	};
	const stop = (): void => {
		isRunning = false;
		withdraw?.();
		withdraw = null;
		clear();
	};

	const take = (body: EventBody): void => {
		// A nested turn, which has no outcome of its own, continues the count.
		if (body.type === "turn.started" && !isRunning) {
			isRunning = true;
			calls.clear();
			doing = waiting;
			step = 0;
			startedAt = clock.monotonic();
			if (!hasEnded) withdraw = clock.after(interval, tick);
		}
		if (body.type === "turn.ended" && body.outcome !== null) stop();
		if (body.type === "step.started") step = body.n;
		if (body.type === "step.retrying") calls.clear();
		if (body.type === "tool.requested") calls.set(body.call.id, onOneLine(callLine(body.call), 80));
		if (body.type === "tool.result") calls.delete(body.toolCallId);
		doing = activityAt(body) ?? doing;
	};

	return {
		take({ body, agentPath }) {
			if (agentPath.length === 0) take(body);
		},
		clear,
		end() {
			hasEnded = true;
			stop();
		},
	};
}

function activityAt(body: EventBody): string | null {
	if (body.type === "content.delta") return body.part.type === "think" ? "thinking" : "answering";
	if (body.type === "tool-call.started") return `calling ${onOneLine(body.call.function.name, 40)}`;
	if (body.type === "step.retrying") return `retrying (attempt ${body.next_attempt} of ${body.max_attempts})`;
	if (body.type === "compaction.started") return "summarizing the context";
	if (body.type === "mcp.loading-started") return "connecting to tool servers";
	const isModelNext =
		body.type === "step.started" ||
		body.type === "tool.result" ||
		body.type === "compaction.ended" ||
		body.type === "mcp.loading-ended";
	return isModelNext ? waiting : null;
}

function widthOf(character: string): number {
	const code = character.codePointAt(0) ?? 0;
	return code >= 0x1100 && !(code >= 0x2010 && code <= 0x2027) ? 2 : 1;
}

function cutToWidth(text: string, width: number): string {
	let used = 0;
	let result = "";
	for (const character of text) {
		used += widthOf(character);
		if (used > width) break;
		result += character;
	}
	return result;
}

/** Milliseconds without text output before a line is drawn below it. */
const pause = 1000;

export function createCursor(clock: Clock, columns: () => number) {
	let line = "";
	let writtenAt = 0;
	return {
		take(text: string): void {
			const end = text.lastIndexOf("\n");
			line = end === -1 ? line + text : text.slice(end + 1);
			writtenAt = clock.monotonic();
		},
		/** Null while text is being printed, and if the column is unknown. */
		column(): number | null {
			if (line === "") return 0;
			if (clock.monotonic() - writtenAt < pause || !hasPlainWidth.test(line)) return null;
			const width = columns();
			const column = [...line].reduce((sum, character) => sum + widthOf(character), 0) % width;
			return column === 0 ? null : column;
		},
	};
}

/** Characters that are one or two columns wide: no tabs, combining characters or emoji. */
const hasPlainWidth =
	/^[\u0020-\u007e\u00a0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*$/;
