// What a turn is given by whoever runs it. The loop reaches nothing but this.
import type { Clock } from "../base/clock.ts";
import type { ToolCall, ToolReturn, UserInput } from "../events/content.ts";
import type { EventBody, TurnError } from "../events/event.ts";
import type { HookDecision } from "../hooks/hook.ts";
import type { Model, ToolSpecification } from "../models/model.ts";
import type { ApprovalNeed, Tool } from "../tools/tool.ts";
import type { Context } from "./context.ts";

/** What became of an approval. `cancelled` means the turn or the attempt is over; nothing more is to be told. */
export type ApprovalOutcome =
	/** `isShown` says whether a person saw what will be done. */
	| { readonly kind: "approved"; readonly isShown: boolean }
	| { readonly kind: "rejected"; readonly feedback: string }
	/** Rejected because nobody could be asked; the reason is for the model. */
	| { readonly kind: "unattended"; readonly reason: string }
	| { readonly kind: "cancelled" };

/** The tools of an agent: what a model is offered, and what a call may reach. */
export interface ToolBox {
	specifications(): Promise<readonly ToolSpecification[]>;
	/** Also finds tools that are not offered. */
	find(name: string): Tool | null;
}

/** Input added while the turn runs. */
export interface SteerQueue {
	/** Everything added so far, oldest first. */
	take(): readonly UserInput[];
	/** Whether nothing waits. */
	isEmpty(): boolean;
}

/** Records that survive a crash: intents before, outcomes after. Kept and synced when the promise resolves. */
export interface CallJournal {
	started(call: ToolCall): Promise<void>;
	finished(call: ToolCall, isError: boolean): Promise<void>;
}

/** What watches tool calls. `before` may forbid a call; the others are told and not waited for. */
export interface ToolWatch {
	before(call: ToolCall, input: unknown): Promise<HookDecision>;
	after(call: ToolCall, input: unknown, result: ToolReturn): void;
	crashed(call: ToolCall, input: unknown, error: string): void;
}

/** News for the model, to be put before it as a message of its own. */
export interface Notice {
	readonly text: string;
	/** To be called once the text is kept in the context. */
	retained(): Promise<void>;
}

/** Why a context is compacted: it is full, or a person asked for it, with or without saying what matters. */
export type CompactionTrigger = "auto" | "manual" | "manual-with-prompt";

/** When a context is compacted, and who takes part. Tokens are those last counted. */
export interface Compacting {
	/** The part of the model's window that may be filled. */
	readonly triggerRatio: number;
	/** Tokens of it that must stay free. */
	readonly reservedTokens: number;
	/** Waited for before anything happens. */
	before(trigger: CompactionTrigger, tokenCount: number): Promise<unknown>;
	/** Texts for the model behind what stays of the history. */
	notes(): Promise<readonly string[]>;
	/** Told, and not waited for, when the context was replaced. */
	after(trigger: CompactionTrigger, tokenCount: number): void;
}

/** A message that an agent sends back to itself at an earlier checkpoint. */
export interface Mail {
	readonly checkpoint: number;
	readonly message: string;
}

/** Where such a message waits for the end of its step. */
export interface Mailbox {
	/** What waits, if anything; it then waits no more. */
	take(): Mail | null;
}

/** What may still be used of tokens, time and tool calls. */
export interface Budget {
	/** Why no further step may be begun; null while there is something left. */
	exhausted(): TurnError | null;
	/** Counts a tool call that is about to be made; gives why when there is none left. */
	takeToolCall(): TurnError | null;
}

export interface TurnLimits {
	readonly maxSteps: number;
	/** Attempts in all per model call, the first included. */
	readonly maxAttempts: number;
}

export interface TurnDependencies {
	/** Null when none is configured; `unsetModelAlias` then names what was asked for. */
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly context: Context;
	readonly tools: ToolBox;
	/** Waited for before the first step; resolves early when the turn is cancelled. */
	toolsReady(): Promise<void>;
	readonly steers: SteerQueue;
	readonly journal: CallJournal;
	readonly limits: TurnLimits;
	readonly budget: Budget;
	readonly cacheKey: string;
	/** Whether this is a subagent: it goes on after a refusal, where the session's own agent stops. */
	readonly isSubagent: boolean;
	readonly planMode: () => boolean;
	readonly watch: ToolWatch;
	/** News to put before the model at the beginning of a step; empty for subagents. */
	notices(): Promise<readonly Notice[]>;
	/** Texts to put before the model at the beginning of a step, as they are due. */
	reminders(): Promise<readonly string[]>;
	readonly compaction: Compacting;
	/** Null for agents that cannot send mail to their past: those are not shown their checkpoints either. */
	readonly mailbox: Mailbox | null;
	/** Told of a step that failed, and of the class of its error, before the turn fails. */
	stepFailed(error: TurnError, errorType: string): void;
	readonly clock: Clock;
	/** Uniform in [0, 1). */
	readonly random: () => number;
	/**
	 * Resolves when the event is kept and told; waits while the client is slow, but not beyond the turn. Gives nothing
	 * when there is nothing to wait for, as with most deltas.
	 */
	emit(body: EventBody): Promise<void> | undefined;
	approve(need: ApprovalNeed, call: ToolCall, signal: AbortSignal): Promise<ApprovalOutcome>;
	/** Puts everything kept so far on stable storage. */
	commit(): Promise<void>;
}
