// What a slash command is, and what it may use of the turn it is run in.
import type { CompactionOutcome } from "../../agent/compaction.ts";
import type { CompactionTrigger } from "../../agent/dependencies.ts";
import type { UserInput } from "../../events/content.ts";
import type { EventBody, TurnOutcome } from "../../events/event.ts";
import type { SideAnswer } from "../turn/side-question-answer.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

/** A command as clients list it. */
export interface SlashCommandInfo {
	readonly name: string;
	readonly description: string;
	readonly aliases: readonly string[];
}

/** How a turn within the turn ended, and how many steps it took. */
export interface NestedRun {
	readonly outcome: TurnOutcome;
	readonly steps: number;
}

export interface CommandRun {
	/** What stands behind the name, trimmed. */
	readonly argument: string;
	readonly signal: AbortSignal;
	/** The session's own agent. */
	readonly agent: Agent;
	/** Answers the person; nothing of it enters the context. */
	say(text: string): Promise<void>;
	deliver(body: EventBody): Promise<void>;
	/** Tells the end of what was begun, also where that cannot be kept; rejects then all the same. */
	end(body: EventBody): Promise<void>;
	/** Answers a question beside the conversation; nothing of it enters the context. */
	answerSideQuestion(question: string): Promise<SideAnswer>;
	/** Runs the agent on an input as the rest of this turn. */
	runAgent(input: UserInput): Promise<TurnOutcome>;
	/** Runs an agent in a turn within this one, which is told from its beginning to its end. */
	runWithin(input: UserInput, agent: Agent): Promise<NestedRun>;
	/** Compacts the context of the session's own agent; `focus` is what the person wants kept. Null without a model. */
	compact(trigger: CompactionTrigger, focus: string): Promise<CompactionOutcome | null>;
}

export interface SlashCommand extends SlashCommandInfo {
	run(run: CommandRun): Promise<TurnOutcome>;
}

export const finished: TurnOutcome = { status: "finished" };

/** A command that answers with a text and does nothing else. */
export function answering(answer: (run: CommandRun) => Promise<string>): SlashCommand["run"] {
	return async (run) => {
		await run.say(await answer(run));
		return finished;
	};
}
