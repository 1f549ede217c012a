import { type ToolReturn, toolError, toolSuccess } from "../../api/values/content.ts";
import { sentences } from "../../base/text/sentence.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { cutLine } from "./text-limits.ts";

/** Maximum characters of an output, and of one line. */
export const outputLimit = 50_000;
export const lineLimit = 2000;

const marker = "[...truncated]";
export const shortenedSentence = "The output was shortened to fit.";

export interface OutputBuilder {
	/** Appends text; truncates long lines and drops everything over the total. */
	write(text: string): void;
	isTruncated(): boolean;
	/** Ends the message with a full stop and notes truncation. */
	success(message: string, value?: Partial<Omit<ToolReturn, "is_error" | "output" | "message">>): ToolReturn;
	failure(message: string, brief: string): ToolReturn;
}

/** `lineLength` null disables line truncation. */
export function createOutputBuilder(lineLength: number | null = lineLimit): OutputBuilder {
	let output = "";
	let truncated = false;

	const add = (line: string): void => {
		const room = outputLimit - output.length;
		if (room <= 0) {
			truncated = true;
			return;
		}
		const content = line.endsWith("\n") ? line.slice(0, -1) : line;
		const end = line.slice(content.length);
		const fitting = lineLength === null ? content : cutLine(content, lineLength, marker);
		if (fitting !== content) truncated = true;
		if (fitting.length + end.length <= room) {
			output += fitting + end;
			return;
		}
		truncated = true;
		output += beginning(fitting, Math.max(0, room - marker.length)) + marker.slice(0, room);
	};

	return {
		write(text) {
			for (let start = 0; start < text.length; ) {
				const newline = text.indexOf("\n", start);
				const end = newline === -1 ? text.length : newline + 1;
				add(text.slice(start, end));
				start = end;
			}
		},
		isTruncated: () => truncated,
		success: (message, value = {}) =>
			toolSuccess({ ...value, output, message: sentences(message, truncated ? shortenedSentence : "") }),
		failure: (message, brief) =>
			toolError(truncated ? sentences(message, shortenedSentence) : message, brief, { output }),
	};
}
