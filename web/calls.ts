// The calls of a conversation: from the first letter of their arguments to their results.
import type { EventBodyOf } from "../src/events/event.ts";
import type { Interaction } from "../src/events/interaction.ts";
import type { Block, ToolBlock } from "./blocks.ts";
import { decisionWords, settledWords } from "./outcome-words.ts";
import { joined } from "./texts.ts";
import type { EventOf } from "./wire.ts";

/** Characters of the output of a running call that are shown. */
const liveLimit = 20_000;

export class Calls {
	readonly #byId = new Map<string, ToolBlock>();
	/** The call that each agent is writing. */
	readonly #writing = new Map<string, ToolBlock>();
	readonly #nextKey: () => number;

	constructor(nextKey: () => number) {
		this.#nextKey = nextKey;
	}

	get(id: string): ToolBlock | undefined {
		return this.#byId.get(id);
	}

	/** The call with this id, which begins among these blocks if it is not known. */
	begin(place: () => Block[], id: string, name: string, given: string | null): ToolBlock {
		const known = this.#byId.get(id);
		if (known !== undefined) return known;
		const block: ToolBlock = {
			kind: "tool",
			key: this.#nextKey(),
			id,
			name,
			arguments: given ?? "",
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
		};
		place().push(block);
		this.#byId.set(id, block);
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
		const block = this.#byId.get(toolCallId);
		if (block === undefined) return;
		const verb = decision === "approve" ? "Allowed" : "Denied";
		block.decision = by === "default" && decision === "approve" ? null : `${verb}: ${reason}`;
		if (decision === "reject") block.state = "refused";
	}

	addProgress({ toolCallId, text, offset }: EventBodyOf<"tool.progress">): void {
		const block = this.#byId.get(toolCallId);
		if (block === undefined) return;
		const end = offset + text.length;
		if (end <= block.liveEnd) return;
		const gap = offset > block.liveEnd && block.live !== "" ? "…" : "";
		block.live = (block.live + gap + text.slice(Math.max(0, block.liveEnd - offset))).slice(-liveLimit);
		block.liveEnd = end;
	}

	/** It is over, without a result of its own. */
	end(id: string): void {
		const block = this.#byId.get(id);
		if (block !== undefined && block.result === null) block.state = "interrupted";
	}

	lose(id: string): void {
		const block = this.#byId.get(id);
		if (block !== undefined) block.state = "unknown";
	}

	/** The call that has this result now. */
	settle({ toolCallId, result, at }: EventOf<"tool.result">): ToolBlock | undefined {
		const block = this.#byId.get(toolCallId);
		if (block === undefined) return undefined;
		block.result = result;
		block.endedAt = at;
		if (result.display.length > 0) block.display = result.display;
		if (block.state !== "refused") block.state = result.is_error ? "failed" : "done";
		return block;
	}

	/** The call waits for the answer to this. */
	ask(interaction: Interaction): void {
		const block = interaction.kind === "hook" ? undefined : this.#byId.get(interaction.toolCallId);
		if (block === undefined) return;
		block.state = "waiting";
		if (interaction.kind === "approval" && interaction.display.length > 0) block.display = interaction.display;
	}

	/** The call goes on, or not, with this answer. */
	answer(asked: Interaction, { answer, by }: EventBodyOf<"interaction.resolved">, windowName: string): void {
		const block = asked.kind === "hook" ? undefined : this.#byId.get(asked.toolCallId);
		if (block === undefined || (answer.kind !== "question" && answer.kind !== "approval")) return;
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
