// What a conversation consists of: turns of blocks. They change in place while events come.
import type { DisplayBlock, ToolReturn, UserInput } from "../src/api/values/content.ts";

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
	/** Not to be folded together with the calls before it: it was shown before they were. */
	isApart: boolean;
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
	/** Its name in the history; null while that is not known. */
	id: string | null;
	/** Milliseconds since the epoch; null while not known. */
	startedAt: number | null;
	endedAt: number | null;
	/** Whether the conversation went back to before it: the model no longer sees it. */
	isRewound: boolean;
	/** Null when the turn began before the events that are known; what came before is put before it when it is read. */
	prompt: UserInput | null;
	readonly blocks: Block[];
	end: TurnEnd | null;
	isRunning: boolean;
	/** Whether its end is among the events. */
	hasEnded: boolean;
	/** How often something was put before what is shown of it. */
	extensions: number;
}

/** Puts earlier blocks before those that are shown, which stay as they are. */
export function putBefore(blocks: Block[], earlier: readonly Block[]): void {
	const [first] = blocks;
	if (first?.kind === "tool") first.isApart = true;
	blocks.unshift(...earlier);
}

/** The blocks without some of them, in their lanes as well. */
export function without(blocks: readonly Block[], left: ReadonlySet<Block>): Block[] {
	for (const block of blocks) {
		if (block.kind === "tool") block.children.splice(0, block.children.length, ...without(block.children, left));
	}
	return blocks.filter((block) => !left.has(block));
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
