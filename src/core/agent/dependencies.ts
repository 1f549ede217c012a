import type { TokenUsage, ToolCall, ToolReturn, UserInput } from "../../api/values/content.ts";
import type { EventBody, EventBodyOf, TurnError } from "../../api/values/event.ts";
import type { Sampling } from "../../api/values/turn-options.ts";
import type { Clock } from "../../base/clock.ts";
import type { HookDecision } from "../hooks/hook.ts";
import type { Model, ToolSpecification } from "../models/model.ts";
import type { ApprovalNeed, Tool, ToolProgress } from "../tools/tool.ts";
import type { Context } from "./context.ts";

/** The outcome of an approval. `cancelled`: the turn or attempt has ended, and nothing more may be emitted. */
export type ApprovalOutcome =
	/** `isShown`: a person saw the action. */
	| { readonly kind: "approved"; readonly isShown: boolean }
	| { readonly kind: "rejected"; readonly feedback: string }
	/** Rejected by a policy without asking; the reason is for the model. */
	| { readonly kind: "denied"; readonly by: DeniedBy; readonly reason: string }
	| { readonly kind: "cancelled" };

export type DeniedBy = EventBodyOf<"permission.decided">["by"];

export interface ToolBox {
	specifications(): Promise<readonly ToolSpecification[]>;
	find(name: string): Tool | null;
}

export interface SteerQueue {
	take(): readonly UserInput[];
	isEmpty(): boolean;
}

/** Records calls with effects, to survive a crash. */
export interface CallJournal {
	/** The call starts. If it may have an effect, the record is on stable storage when the promise resolves. */
	started(call: ToolCall, hasEffect: boolean): Promise<void>;
	/** The call was canceled and will have no result. Does nothing for a call that was not started. */
	ended(call: ToolCall): Promise<void>;
}

export interface CallProgress {
	readonly report: ToolProgress;
	/** The call has ended: delivers pending progress and drops later progress. */
	end(): void;
}

/** Observes tool calls. `before` may block a call; the other functions are not awaited. */
export interface ToolWatch {
	before(call: ToolCall, input: unknown): Promise<HookDecision>;
	after(call: ToolCall, input: unknown, result: ToolReturn): void;
	crashed(call: ToolCall, input: unknown, error: string): void;
}

export interface RunHooks {
	request(request: {
		readonly messageCount: number;
		readonly maxTokens: number | null;
		readonly temperature: number | null;
	}): Promise<void>;
	answer(answer: {
		readonly text: string;
		readonly calls: readonly ToolCall[];
		readonly usage: TokenUsage | null;
	}): Promise<void>;
	before(call: ToolCall, input: unknown): Promise<HookDecision>;
	after(call: ToolCall, result: ToolReturn): Promise<ToolReturn>;
	stepEnded(): Promise<void>;
}

/** A notification for the model, added to the context as a separate message. */
export interface Notice {
	readonly text: string;
	retained(): Promise<void>;
}

/** Why a context is compacted: it is full, or the user requested it, with or without a focus. */
export type CompactionTrigger = "auto" | "manual" | "manual-with-prompt";

/** When to compact, and what happens around it. Token counts are the last known ones. */
export interface Compacting {
	/** The maximum share of the model's window to fill. */
	readonly triggerRatio: number;
	/** Tokens of the window to keep free. */
	readonly reservedTokens: number;
	/** Awaited before the compaction starts. */
	before(trigger: CompactionTrigger, tokenCount: number): Promise<unknown>;
	notes(): Promise<readonly string[]>;
	/** Called, not awaited, after the context was replaced. */
	after(trigger: CompactionTrigger, tokenCount: number): void;
}

export interface Mail {
	readonly checkpoint: number;
	readonly message: string;
}

/** Holds a message to an earlier checkpoint until the end of the step. */
export interface Mailbox {
	take(): Mail | null;
}

export interface Budget {
	/** Why no further step may begin; null while budget remains. */
	exhausted(): TurnError | null;
	/** Counts an upcoming tool call; returns the error if none remain. */
	takeToolCall(): TurnError | null;
}

export interface TurnLimits {
	readonly maxSteps: number;
	/** Maximum attempts per model call, including the first. */
	readonly maxAttempts: number;
}

export interface TurnDependencies {
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly context: Context;
	readonly tools: ToolBox;
	toolsReady(): Promise<void>;
	readonly steers: SteerQueue;
	readonly journal: CallJournal;
	readonly limits: TurnLimits;
	readonly budget: Budget;
	readonly cacheKey: string;
	readonly systemPrompt?: string;
	readonly instructions?: readonly string[];
	readonly sampling?: Sampling;
	/** Appended after the last user message in every request; not stored in the context. */
	readonly passingContext?: string;
	/** A subagent continues after a refusal; the session's main agent stops. */
	readonly isSubagent: boolean;
	readonly planMode: () => boolean;
	readonly watch: ToolWatch;
	/** Absent for a session created without hooks. */
	readonly runHooks?: RunHooks;
	/** Notifications for the model at the start of a step; empty for subagents. */
	notices(): Promise<readonly Notice[]>;
	reminders(): Promise<readonly string[]>;
	readonly compaction: Compacting;
	/** Null for agents without mail to earlier checkpoints; they do not see checkpoints either. */
	readonly mailbox: Mailbox | null;
	/** Called with the error of a failed step and its class, before the turn fails. */
	stepFailed(error: TurnError, errorType: string): void;
	readonly clock: Clock;
	readonly random: () => number;
	/** Resolves when the event is persisted and delivered, which applies backpressure. Undefined if there is no wait. */
	emit(body: EventBody): Promise<void> | undefined;
	/** Shows clients the progress of a started call until its end or the abort of the signal. */
	progress(call: ToolCall, signal: AbortSignal): CallProgress;
	/** Runs a call that acts on these subjects and records its file changes; absent if recording is off. */
	recordFiles?<Result>(
		subjects: ApprovalNeed["subjects"],
		work: () => Promise<Result>,
		signal: AbortSignal,
	): Promise<Result>;
	approve(need: ApprovalNeed, call: ToolCall, signal: AbortSignal): Promise<ApprovalOutcome>;
	/** Resolves when everything persisted so far is on stable storage; awaited before the next step or the end is visible. */
	commit(): Promise<void>;
}
