// The contract of a slash command, and what it may use of the turn it runs in.

import type { UserInput } from "../../api/values/content.ts";
import type { EventBody, TurnOutcome } from "../../api/values/event.ts";
import type { CompactionOutcome } from "../../core/agent/compaction.ts";
import type { CompactionTrigger } from "../../core/agent/dependencies.ts";
import type { SideAnswer } from "../turn/side-question-answer.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

/** A command as clients list it. */
export interface SlashCommandInfo {
	readonly name: string;
	readonly description: string;
	readonly aliases: readonly string[];
}

/** The outcome of a turn within the turn, and its number of steps. */
export interface NestedRun {
	readonly outcome: TurnOutcome;
	readonly steps: number;
}

export interface CommandRun {
	/** The text after the name, trimmed. */
	readonly argument: string;
	readonly signal: AbortSignal;
	/** The session's own agent. */
	readonly agent: Agent;
	/** Answers the person; nothing of it enters the context. */
	say(text: string): Promise<void>;
	deliver(body: EventBody): Promise<void>;
	/** Delivers the end of something begun, even when it cannot be persisted; it rejects in that case. */
	end(body: EventBody): Promise<void>;
	/** Answers a question outside the conversation; nothing of it enters the context. */
	answerSideQuestion(question: string): Promise<SideAnswer>;
	/** Runs the agent on an input as the rest of this turn. */
	runAgent(input: UserInput): Promise<TurnOutcome>;
	/** Runs an agent in a nested turn, whose events are emitted from beginning to end. */
	runWithin(input: UserInput, agent: Agent): Promise<NestedRun>;
	/**
	 * Compacts the context of the session's own agent; `focus` is what the summary should preserve. Null without a
	 * model.
	 */
	compact(trigger: CompactionTrigger, focus: string): Promise<CompactionOutcome | null>;
}

export interface SlashCommand extends SlashCommandInfo {
	/** Not listed, because it would do nothing: it only says why to those who know it. */
	readonly isUnlisted?: boolean;
	run(run: CommandRun): Promise<TurnOutcome>;
}

export const finished: TurnOutcome = { status: "finished" };

/** A command that only answers with a text. */
export function answering(answer: (run: CommandRun) => Promise<string>): SlashCommand["run"] {
	return async (run) => {
		await run.say(await answer(run));
		return finished;
	};
}
