// Guards against a model that repeats the same call: counts identical calls in a row over the steps of a turn, and
// reminds the model in the call's own output (agent-kernel §5.4).

import { type ToolCall, type ToolReturn, textPart } from "../../api/values/content.ts";
import { cut } from "../../base/text/sentence.ts";
import { reminderText } from "./marked-text.ts";

/** Repetitions at which the reminder begins, names the call, asks to stop, and the turn is ended. */
const mildCount = 3;
const plainCount = 5;
const urgentCount = 8;
const lastCount = 12;

/** Characters of arguments that a reminder quotes. */
const quoteLimit = 300;

export interface RepetitionGuard {
	/** Begins an answer. The notes of an answer that was abandoned are dropped. */
	beginAnswer(): AnswerRepetition;
	/** Confirms the notes of the current answer. Whether the count that ends a turn is reached. */
	endAnswer(): boolean;
	/** Begins anew, as after a rewind. */
	reset(): void;
}

export interface AnswerRepetition {
	/** Notes the next call of the answer by its canonical key; returns how many there are now in a row. */
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

/** The result, with the reminder that is due at this count after its output. */
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
