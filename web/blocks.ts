// What a conversation consists of: turns of blocks. They change in place while events come.
import type { DisplayBlock, ToolReturn, UserInput } from "../src/events/content.ts";

export type ToolState = "preparing" | "waiting" | "running" | "done" | "failed" | "refused" | "interrupted" | "unknown";
export type Tone = "plain" | "warning" | "danger";

export interface ToolBlock {
	readonly kind: "tool";
	readonly key: number;
	id: string;
	name: string;
	arguments: string;
	state: ToolState;
	/** The last of its output, and where in all of it that ends. */
	live: string;
	liveEnd: number;
	result: ToolReturn | null;
	startedAt: number | null;
	endedAt: number | null;
	/** Who decided over it and how, for people. */
	decision: string | null;
	display: readonly DisplayBlock[];
	readonly children: Block[];
	steps: number;
}
export interface TextBlock {
	readonly kind: "text" | "think";
	readonly key: number;
	text: string;
	isDone: boolean;
	readonly startedAt: number;
	endedAt: number | null;
}
export interface NoteBlock {
	readonly kind: "note" | "steer" | "plan" | "media" | "mark";
	readonly key: number;
	readonly tone: Tone;
	text: string;
}
export type Block = ToolBlock | TextBlock | NoteBlock;

/** How a turn ended, where that has to be said. */
export interface TurnEnd {
	readonly text: string;
	readonly tone: Tone;
	readonly help: string | null;
}

export interface Turn {
	readonly key: number;
	readonly id: string | null;
	readonly prompt: UserInput | null;
	readonly at: number;
	readonly blocks: Block[];
	end: TurnEnd | null;
	isRunning: boolean;
}

/** Whatever was going on in these blocks goes on no more. */
export function interrupt(blocks: readonly Block[]): void {
	for (const block of blocks) {
		if (block.kind === "text" || block.kind === "think") block.isDone = true;
		if (block.kind !== "tool") continue;
		if (["preparing", "waiting", "running"].includes(block.state)) block.state = "interrupted";
		interrupt(block.children);
	}
}
