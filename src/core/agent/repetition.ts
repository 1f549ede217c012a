// Counts consecutive identical calls over a turn's steps and adds reminders to their output (agent-kernel §5.4).

import { type ToolCall, type ToolReturn, textPart } from "../../api/values/content.ts";
import { cut } from "../../base/text/sentence.ts";
import { reminderText } from "./marked-text.ts";

/** Repetition counts at which the reminder starts, names the call, asks to stop, and the turn ends. */
const mildCount = 3;
const plainCount = 5;
const urgentCount = 8;
const lastCount = 12;

/** Maximum characters of arguments quoted in a reminder. */
const quoteLimit = 300;

export interface RepetitionGuard {
	/** Begins an answer; drops the counts of an abandoned one. */
	beginAnswer(): AnswerRepetition;
	/** Commits the current answer's counts. Returns whether the turn must end. */
	endAnswer(): boolean;
	reset(): void;
}

export interface AnswerRepetition {
	/** Counts the answer's next call by its canonical key; returns its consecutive count. */
	note(key: string): number;
}

interface Streak {
	readonly key: string | null;
	readonly count: number;
}

const noStreak: Streak = { key: null, count: 0 };

export function createRepetitionGuard(): RepetitionGuard {
	let retained = noStreak;
	let current = noStreak;
	let longest = 0;
	return {
		beginAnswer() {
			current = retained;
			longest = 0;
			return {
				note(key) {
					current = { key, count: key === current.key ? current.count + 1 : 1 };
					longest = Math.max(longest, current.count);
					return current.count;
				},
			};
		},
		endAnswer() {
			retained = current;
			return longest >= lastCount;
		},
		reset() {
			retained = noStreak;
		},
	};
}

export function withReminder(result: ToolReturn, call: ToolCall, count: number): ToolReturn {
	const text = reminder(call, count);
	if (text === null) return result;
	const wrapped = `\n\n${reminderText(text)}`;
	const { output } = result;
	return { ...result, output: typeof output === "string" ? output + wrapped : [...output, textPart(wrapped)] };
}

function reminder({ function: { name, arguments: text } }: ToolCall, count: number): string | null {
	if (count < mildCount) return null;
	if (count < plainCount) {
		return "This is the same call as before, with the same arguments, and its result is unlikely to change. Use what you have, or try something else.";
	}
	const quoted = text ?? "{}";
	const fact = `\`${name}\` was called ${count} times in a row with these arguments: ${cut(quoted, quoteLimit)}`;
	if (count < urgentCount)
		return `${fact}\nRepeating it does not help. Change the arguments, use another tool, or go on.`;
	return `${fact}\nDo not call a tool now. Say what you know and what keeps you from going on. The turn is ended after ${lastCount} such calls.`;
}
