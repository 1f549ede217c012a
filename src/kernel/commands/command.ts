import type { SlashCommandInfo } from "../../api/session-state.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { EventBody, TurnOutcome } from "../../api/values/event.ts";
import type { CompactionOutcome } from "../../core/agent/compaction.ts";
import type { CompactionTrigger } from "../../core/agent/dependencies.ts";
import type { SideAnswer } from "../turn/side-question-answer.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

export interface NestedRun {
	readonly outcome: TurnOutcome;
	readonly steps: number;
}

export interface CommandRun {
	readonly argument: string;
	readonly signal: AbortSignal;
	readonly agent: Agent;
	/** Answers the user. The text does not enter the context. */
	say(text: string): Promise<void>;
	deliver(body: EventBody): Promise<void>;
	/** Delivers an end event even when it cannot be persisted; rejects in that case. */
	end(body: EventBody): Promise<void>;
	/** Answers a question outside the conversation. Nothing enters the context. */
	answerSideQuestion(question: string): Promise<SideAnswer>;
	runAgent(input: UserInput): Promise<TurnOutcome>;
	/** Runs an agent in a nested turn and emits all its events. */
	runWithin(input: UserInput, agent: Agent): Promise<NestedRun>;
	/** Compacts the context of the main agent; `focus` says what the summary should preserve. Null without a model. */
	compact(trigger: CompactionTrigger, focus: string): Promise<CompactionOutcome | null>;
}

export interface SlashCommand extends SlashCommandInfo {
	/** Hidden from lists: the command only explains why it does nothing. */
	readonly isUnlisted?: boolean;
	run(run: CommandRun): Promise<TurnOutcome>;
}

export const finished: TurnOutcome = { status: "finished" };

export function answering(answer: (run: CommandRun) => Promise<string>): SlashCommand["run"] {
	return async (run) => {
		await run.say(await answer(run));
		return finished;
	};
}
