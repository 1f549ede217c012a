// The guard against a model that makes the same call again and again: counts calls in a row over the steps of a turn,
// and tells the model of it in the call's own output (agent-kernel §5.4).
import { type ToolCall, type ToolReturn, textPart } from "../events/content.ts";
import { reminderText } from "./marked-text.ts";

/** Calls in a row at which the reminder begins, names the call, asks to stop, and the turn is ended. */
const mildCount = 3;
const plainCount = 5;
const urgentCount = 8;
const lastCount = 12;

/** Characters of arguments that a reminder quotes. */
const quoteLimit = 300;

export interface RepetitionGuard {
	/** Begins an answer. What an answer that is given up noted is forgotten with the next one. */
	beginAnswer(): AnswerRepetition;
	/** The answer begun last stands. Whether it has reached the number of calls at which a turn ends. */
	endAnswer(): boolean;
	/** Begins anew, as when the model has been taken back in time. */
	reset(): void;
}

export interface AnswerRepetition {
	/** Notes the next call of the answer by what makes it the same as another; how many of them there are now in a row. */
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

/** The result with the reminder that is due at this count behind its output. */
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
	const shown = quoted.length > quoteLimit ? `${quoted.slice(0, quoteLimit)}…` : quoted;
	const fact = `\`${name}\` was called ${count} times in a row with these arguments: ${shown}`;
	if (count < urgentCount)
		return `${fact}\nRepeating it does not help. Change the arguments, use another tool, or go on.`;
	return `${fact}\nDo not call a tool now. Say what you know and what keeps you from going on. The turn is ended after ${lastCount} such calls.`;
}
