// Logs server output outside of the protocol, mainly stderr: by line, with limits.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createLineSplitter, type Line } from "../../base/text/lines.ts";
import { cut } from "../../base/text/sentence.ts";
import { beginning } from "../../base/text/well-formed.ts";

export interface ServerLog {
	hear(bytes: Buffer): void;
	note(source: string, text: string): void;
	/** Ends the log. Returns the last stderr line, which may contain the exit reason; empty if none. */
	end(): string;
}

/** Maximum bytes of a stderr line; longer lines are dropped. */
const lineLimit = 64 * 1024;
const shownLength = 1000;
const lastLineLength = 300;
/** Characters to log per period, and the period in milliseconds; the rest is only counted. */
const periodBudget = 64 * 1024;
const period = 60_000;

export function createServerLog(server: string, clock: Clock, log: Log): ServerLog {
	const splitter = createLineSplitter(lineLimit);
	let last = "";
	let periodEnd = 0;
	let left = 0;
	let dropped = 0;

	const isAffordable = (length: number): boolean => {
		const now = clock.monotonic();
		if (now >= periodEnd) {
			if (dropped > 0) log.info("MCP server log truncated.", { server, lines: dropped });
			periodEnd = now + period;
			left = periodBudget;
			dropped = 0;
		}
		left -= length;
		if (left < 0) dropped += 1;
		return left >= 0;
	};
	const note = (source: string, text: string) => {
		const shown = cut(text, shownLength);
		if (isAffordable(shown.length)) log.info("An MCP server says:", { server, source, text: shown });
	};
	const take = (line: Line) => {
		if (line.kind === "oversized") return note("stderr", `[a line of more than ${lineLimit} bytes]`);
		const text = line.text.trimEnd();
		if (text === "") return;
		last = beginning(text, lastLineLength);
		note("stderr", text);
	};
	return {
		note,
		hear: (bytes) => {
			for (const line of splitter.push(bytes)) take(line);
		},
		end() {
			for (const line of splitter.end()) take(line);
			return last;
		},
	};
}
