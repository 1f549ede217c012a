// The dependencies of a turn, which its caller provides. The loop uses nothing else.

import type { TokenUsage, ToolCall, ToolReturn, UserInput } from "../../api/values/content.ts";
import type { EventBody, EventBodyOf, TurnError } from "../../api/values/event.ts";
import type { Sampling } from "../../api/values/turn-options.ts";
import type { Clock } from "../../base/clock.ts";
import type { HookDecision } from "../hooks/hook.ts";
import type { Model, ToolSpecification } from "../models/model.ts";
import type { ApprovalNeed, Tool, ToolProgress } from "../tools/tool.ts";
import type { Context } from "./context.ts";

/**
 * The outcome of an approval. `cancelled` means that the turn or the attempt has ended; nothing more is to be emitted.
 */
export type ApprovalOutcome =
	/** `isShown` says whether a person saw what will be done. */
	| { readonly kind: "approved"; readonly isShown: boolean }
	| { readonly kind: "rejected"; readonly feedback: string }
	/** Rejected by a policy, without asking; the reason is for the model. */
	| { readonly kind: "denied"; readonly by: DeniedBy; readonly reason: string }
	| { readonly kind: "cancelled" };

/** The kind of policy that rejects a call. */
export type DeniedBy = EventBodyOf<"permission.decided">["by"];

/** The tools of an agent: those offered to its model, and those a call may use. */
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

/** What is recorded of calls that act, to survive a crash. */
export interface CallJournal {
	/** The call begins to act. One that may change something is on stable storage when the promise resolves. */
	started(call: ToolCall, hasEffect: boolean): Promise<void>;
	/** The call is over and will have no result, because it was cancelled. Nothing happens for one that was not started. */
	ended(call: ToolCall): Promise<void>;
}

/** Shows what a running call reports. */
export interface CallProgress {
	readonly report: ToolProgress;
	/** The call has ended: delivers what is pending, and nothing later. */
	end(): void;
}

/** Observes tool calls. `before` may forbid a call; the others are called and not awaited. */
export interface ToolWatch {
	before(call: ToolCall, input: unknown): Promise<HookDecision>;
	after(call: ToolCall, input: unknown, result: ToolReturn): void;
	crashed(call: ToolCall, input: unknown, error: string): void;
}

/** Hooks around the steps of a run and their calls. All but `before` fail with a KernelError `hook-failed`, and it may. */
export interface RunHooks {
	/** Before a model call, which its retries belong to. */
	request(request: {
		readonly messageCount: number;
		readonly maxTokens: number | null;
		readonly temperature: number | null;
	}): Promise<void>;
	/** After a complete answer; calls of it may run by then. */
	answer(answer: {
		readonly text: string;
		readonly calls: readonly ToolCall[];
		readonly usage: TokenUsage | null;
	}): Promise<void>;
	/** Whether a call may be made. */
	before(call: ToolCall, input: unknown): Promise<HookDecision>;
	/** The result of a call, or what takes its place. */
	after(call: ToolCall, result: ToolReturn): Promise<ToolReturn>;
	/** A step is over and persisted, with the results of its calls. */
	stepEnded(): Promise<void>;
}

/** A notification for the model, to be added to the context as a message of its own. */
export interface Notice {
	readonly text: string;
	/** Call it once the text is persisted in the context. */
	retained(): Promise<void>;
}

/** Why a context is compacted: it is full, or a person requested it, with or without a focus. */
export type CompactionTrigger = "auto" | "manual" | "manual-with-prompt";

/** When a context is compacted, and what happens around it. Tokens are those last counted. */
export interface Compacting {
	/** The share of the model's window that may be filled. */
	readonly triggerRatio: number;
	/** Tokens of the window that must stay free. */
	readonly reservedTokens: number;
	/** Awaited before anything else. */
	before(trigger: CompactionTrigger, tokenCount: number): Promise<unknown>;
	/** Texts for the model after the preserved part of the history. */
	notes(): Promise<readonly string[]>;
	/** Called, and not awaited, when the context was replaced. */
	after(trigger: CompactionTrigger, tokenCount: number): void;
}

/** A message that an agent sends to its own past, at an earlier checkpoint. */
export interface Mail {
	readonly checkpoint: number;
	readonly message: string;
}

/** Holds such a message until the end of its step. */
export interface Mailbox {
	/** Removes and returns the message, if there is one. */
	take(): Mail | null;
}

/** The remaining tokens, time and tool calls. */
export interface Budget {
	/** Why no further step may begin; null while there is something left. */
	exhausted(): TurnError | null;
	/** Counts a tool call that is about to be made; returns the error when none is left. */
	takeToolCall(): TurnError | null;
}

export interface TurnLimits {
	readonly maxSteps: number;
	/** The most attempts per model call, the first included. */
	readonly maxAttempts: number;
}

export interface TurnDependencies {
	/** Null when none is configured; `unsetModelAlias` then is the requested alias. */
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly context: Context;
	readonly tools: ToolBox;
	/** Awaited before the first step; resolves early when the turn is cancelled. */
	toolsReady(): Promise<void>;
	readonly steers: SteerQueue;
	readonly journal: CallJournal;
	readonly limits: TurnLimits;
	readonly budget: Budget;
	readonly cacheKey: string;
	/** In place of that of the context; absent for that. */
	readonly systemPrompt?: string;
	/** Added to the system prompt. */
	readonly instructions?: readonly string[];
	readonly sampling?: Sampling;
	/** Follows the last message of the user in every request, and does not stay in the context. */
	readonly passingContext?: string;
	/** Whether this is a subagent: it continues after a refusal, where the session's own agent stops. */
	readonly isSubagent: boolean;
	readonly planMode: () => boolean;
	readonly watch: ToolWatch;
	/** Absent for a session that was created without hooks. */
	readonly runHooks?: RunHooks;
	/** Notifications to give the model at the beginning of a step; empty for subagents. */
	notices(): Promise<readonly Notice[]>;
	/** Reminders to give the model at the beginning of a step, when they are due. */
	reminders(): Promise<readonly string[]>;
	readonly compaction: Compacting;
	/** Null for agents that cannot send mail to their past; they do not see their checkpoints either. */
	readonly mailbox: Mailbox | null;
	/** Called with the error of a failed step, and its class, before the turn fails. */
	stepFailed(error: TurnError, errorType: string): void;
	readonly clock: Clock;
	/** Uniform in [0, 1). */
	readonly random: () => number;
	/**
	 * Resolves when the event is persisted and delivered; applies backpressure while a client is slow, until the turn
	 * ends. Undefined when there is nothing to wait for, as with most deltas.
	 */
	emit(body: EventBody): Promise<void> | undefined;
	/** For a call that begins to act: what it reports until its end, or the abort of the signal, is shown to clients. */
	progress(call: ToolCall, signal: AbortSignal): CallProgress;
	/** Runs a call that acts on these subjects, and records what it changes; absent where nothing is recorded. */
	recordFiles?<Result>(
		subjects: ApprovalNeed["subjects"],
		work: () => Promise<Result>,
		signal: AbortSignal,
	): Promise<Result>;
	approve(need: ApprovalNeed, call: ToolCall, signal: AbortSignal): Promise<ApprovalOutcome>;
	/** What was persisted so far is on stable storage before the turn's next step, or its end, is visible. */
	commit(): Promise<void>;
}
