// The calls of a conversation: from the first letter of their arguments to their results. Of a call that began before the events
// that are known, what happens to it is remembered until its beginning is read.
import type { DisplayBlock } from "../src/api/values/content.ts";
import type { EventBodyOf } from "../src/api/values/event.ts";
import type { Interaction } from "../src/api/values/interaction.ts";
import { type Block, interrupt, putBefore, type ToolBlock, without } from "./blocks.ts";
import { decisionWords, settledWords } from "./outcome-words.ts";
import { joined } from "./texts.ts";
import type { EventOf } from "./wire.ts";

/** Characters of the output of a running call that are shown. */
const liveLimit = 20_000;

export class Calls {
	readonly #byId = new Map<string, ToolBlock>();
	/** Those of which nothing is shown, because it is not known what they are. */
	readonly #unplaced = new Set<ToolBlock>();
	/** The call that each agent is writing. */
	readonly #writing = new Map<string, ToolBlock>();
	readonly #nextKey: () => number;

	constructor(nextKey: () => number) {
		this.#nextKey = nextKey;
	}

	/** The call with this id, which begins among these blocks if it is not known. */
	begin(place: () => Block[], id: string, name: string, given: string | null): ToolBlock {
		const block = this.#known(id);
		if (!this.#unplaced.delete(block)) return block;
		block.name = name;
		block.arguments = given ?? "";
		place().push(block);
		return block;
	}

	/** The call whose subagent does something. */
	host(place: () => Block[], id: string): ToolBlock {
		const block = this.begin(place, id, "Agent", null);
		if (block.state === "preparing") block.state = "running";
		return block;
	}

	/** The turn of the calls is over. */
	interruptUnplaced(): void {
		interrupt([...this.#unplaced]);
	}

	/**
	 * Joins these calls with what the earlier events have of them. The blocks that are shown stay; gives the earlier ones in whose place
	 * they are, and what results of this side showed.
	 */
	follow(earlier: Calls): { readonly replaced: ReadonlySet<Block>; readonly shown: readonly DisplayBlock[] } {
		const isShown = (block: ToolBlock | undefined) => block !== undefined && !this.#unplaced.has(block);
		const heads = [...earlier.#byId].filter(
			([id, head]) => !earlier.#unplaced.has(head) && isShown(this.#byId.get(id)),
		);
		const replaced = new Set<Block>(heads.map(([, head]) => head));
		const shown: DisplayBlock[] = [];
		for (const [id, head] of earlier.#byId) {
			const tail = this.#byId.get(id);
			const isHeadPlaced = !earlier.#unplaced.has(head);
			if (tail === undefined) {
				this.#byId.set(id, head);
				if (!isHeadPlaced) this.#unplaced.add(head);
				continue;
			}
			if (tail.result?.is_error === false && tail.display.length === 0) shown.push(...head.display);
			const both = joinedCall(head, tail, isHeadPlaced);
			if (isShown(tail) || !isHeadPlaced) {
				Object.assign(tail, both);
				putBefore(tail.children, without(head.children, replaced));
			} else {
				Object.assign(head, both);
				this.#unplaced.delete(tail);
				this.#byId.set(id, head);
			}
		}
		return { replaced, shown };
	}

	/** The call with this id; one that is not shown if its beginning is not known. */
	#known(id: string): ToolBlock {
		const known = this.#byId.get(id);
		if (known !== undefined) return known;
		const block: ToolBlock = {
			kind: "tool",
			key: this.#nextKey(),
			id,
			name: "",
			arguments: "",
			state: "preparing",
			live: "",
			liveEnd: 0,
			result: null,
			startedAt: null,
			endedAt: null,
			decision: null,
			display: [],
			children: [],
			steps: 0,
			isApart: false,
		};
		this.#byId.set(id, block);
		this.#unplaced.add(block);
		return block;
	}

	/** An agent writes this call until it is requested. */
	write(lane: string, block: ToolBlock): void {
		this.#writing.set(lane, block);
	}

	/** No call is being written, as far as is known. */
	forgetWriting(): void {
		this.#writing.clear();
	}

	addArguments(lane: string, { arguments_part: part, offset }: EventBodyOf<"tool-call.delta">): void {
		const block = this.#writing.get(lane);
		if (block !== undefined) block.arguments = joined(block.arguments, part ?? "", offset);
	}

	request(lane: string, block: ToolBlock, given: string | null): void {
		block.arguments = given ?? "";
		this.#writing.delete(lane);
	}

	start(block: ToolBlock, at: number): void {
		block.state = "running";
		block.startedAt = at;
	}

	decide({ toolCallId, decision, by, reason }: EventBodyOf<"permission.decided">): void {
		const block = this.#known(toolCallId);
		const verb = decision === "approve" ? "Allowed" : "Denied";
		block.decision = by === "default" && decision === "approve" ? null : `${verb}: ${reason}`;
		if (decision === "reject") block.state = "refused";
	}

	addProgress({ toolCallId, text, offset }: EventBodyOf<"tool.progress">): void {
		const block = this.#known(toolCallId);
		const end = offset + text.length;
		if (end <= block.liveEnd) return;
		const gap = offset > block.liveEnd && block.live !== "" ? "…" : "";
		block.live = (block.live + gap + text.slice(Math.max(0, block.liveEnd - offset))).slice(-liveLimit);
		block.liveEnd = end;
	}

	/** It is over, without a result of its own. */
	end(id: string): void {
		const block = this.#known(id);
		if (block.result === null) block.state = "interrupted";
	}

	lose(id: string): void {
		this.#known(id).state = "unknown";
	}

	/** The call that has this result now. */
	settle({ toolCallId, result, at }: EventOf<"tool.result">): ToolBlock {
		const block = this.#known(toolCallId);
		block.result = result;
		block.endedAt = at;
		if (result.display.length > 0) block.display = result.display;
		if (block.state !== "refused") block.state = result.is_error ? "failed" : "done";
		return block;
	}

	/** The call waits for the answer to this. */
	ask(interaction: Interaction): void {
		if (interaction.kind === "hook") return;
		const block = this.#known(interaction.toolCallId);
		block.state = "waiting";
		if (interaction.kind === "approval" && interaction.display.length > 0) block.display = interaction.display;
	}

	/** The call goes on, or not, with this answer. */
	answer(asked: Interaction, { answer, by }: EventBodyOf<"interaction.resolved">, windowName: string): void {
		if (asked.kind === "hook" || (answer.kind !== "question" && answer.kind !== "approval")) return;
		const block = this.#known(asked.toolCallId);
		const who = settledWords(by, windowName);
		// Nobody decided: the work ended before somebody could.
		if (answer.kind === "approval" && (by?.kind === "cancelled" || by?.kind === "shutdown")) {
			block.state = "interrupted";
			block.decision = `Not decided, ${who}`;
			return;
		}
		block.decision = decisionWords(answer, who);
		block.state = answer.kind === "approval" && answer.decision === "reject" ? "refused" : "running";
	}
}

/** One call out of its earlier and its later events. */
function joinedCall(head: ToolBlock, tail: ToolBlock, isHeadPlaced: boolean): Partial<ToolBlock> {
	const begun = isHeadPlaced ? head : tail;
	const hasChanged = tail.state !== "preparing" && !(tail.result === null && head.result !== null);
	const isRefused = head.state === "refused" && (tail.state === "done" || tail.state === "failed");
	return {
		name: begun.name,
		arguments: begun.arguments,
		state: hasChanged && !isRefused ? tail.state : head.state,
		live: tail.live,
		liveEnd: tail.liveEnd,
		result: tail.result ?? head.result,
		startedAt: tail.startedAt ?? head.startedAt,
		endedAt: tail.endedAt ?? head.endedAt,
		decision: tail.decision ?? head.decision,
		display: tail.display.length > 0 ? tail.display : head.display,
		steps: Math.max(head.steps, tail.steps),
	};
}
