// What a conversation is shown as: blocks, in their order. A block that changes gets another version, so that only what
// changed is drawn again.
import type { DisplayBlock, TokenUsage, ToolReturn, UserInput } from "../../src/events/content.ts";
import type { TurnOutcome } from "../../src/events/event.ts";

interface Versioned {
	version: number;
	/** Of the event that it began with: names the block. */
	readonly key: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

export interface PromptBlock extends Versioned {
	readonly kind: "prompt";
	readonly input: UserInput;
	/** Whether it was added while a turn ran. */
	readonly isSteer: boolean;
}

/** Text or reasoning of the model. */
export interface SpeechBlock extends Versioned {
	readonly kind: "text" | "think";
	text: string;
	isComplete: boolean;
	endedAt: number | null;
}

/** `requested`: not decided or not begun; `unknown`: a crash interrupted it. */
export type CallState = "requested" | "running" | "done" | "failed" | "refused" | "interrupted" | "unknown";

export interface CallBlock extends Versioned {
	readonly kind: "call";
	readonly callId: string;
	readonly name: string;
	/** JSON text. */
	readonly arguments: string;
	state: CallState;
	/** Output as it comes. */
	output: string;
	result: ToolReturn | null;
	/** Why it was allowed or refused, and who answered. */
	decision: string | null;
	startedAt: number | null;
	endedAt: number | null;
	/** What the subagent does that it started. */
	readonly lane: Block[];
}

export type NoteTone = "plain" | "warning" | "danger";

export interface NoteBlock extends Versioned {
	readonly kind: "note";
	text: string;
	readonly tone: NoteTone;
}

export interface PlanBlock extends Versioned {
	readonly kind: "plan";
	readonly content: string;
	readonly path: string;
}

export interface EndBlock extends Versioned {
	readonly kind: "end";
	readonly outcome: TurnOutcome | null;
	/** Milliseconds that the turn took. */
	readonly took: number;
	readonly usage: TokenUsage;
}

export type Block = PromptBlock | SpeechBlock | CallBlock | NoteBlock | PlanBlock | EndBlock;

/** Lines that a change adds and removes. */
export interface Change {
	readonly path: string;
	added: number;
	removed: number;
}

export type DiffShown = Extract<DisplayBlock, { type: "diff" }>;

export const isDiff = (block: DisplayBlock): block is DiffShown => block.type === "diff" && "old_text" in block;
