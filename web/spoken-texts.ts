// What agents say and think: each text grows while it is streamed, and is complete once its event has come.
import type { EventBodyOf } from "../src/api/values/event.ts";
import type { PublicEvent } from "../src/frontends/shared/public-event.ts";
import type { Block, TextBlock } from "./blocks.ts";
import { joined } from "./texts.ts";
import type { EventOf } from "./wire.ts";

/** Which agent's texts an event belongs to. */
export const laneOf = (event: Pick<PublicEvent, "agentPath">): string => event.agentPath.at(-1)?.agentId ?? "";

type Spoken = Extract<EventBodyOf<"content.completed">["part"], { type: "text" | "think" }>;
const textOf = (part: Spoken): string => (part.type === "text" ? part.text : part.think);
const isSpoken = (part: EventBodyOf<"content.completed">["part"]): part is Spoken =>
	part.type === "text" || part.type === "think";

export class SpokenTexts {
	/** The text that each agent is streaming. */
	readonly #live = new Map<string, TextBlock>();
	readonly #nextKey: () => number;

	constructor(nextKey: () => number) {
		this.#nextKey = nextKey;
	}

	/** More of the text that this agent says. */
	add(event: EventOf<"content.delta">, place: () => Block[]): void {
		const { part, offset, at } = event;
		if (!isSpoken(part)) return;
		const lane = laneOf(event);
		let live = this.#live.get(lane);
		if (live === undefined || live.kind !== part.type) {
			live = this.#begin(part.type, at, place);
			this.#live.set(lane, live);
		}
		live.text = joined(live.text, textOf(part), offset);
	}

	/** The whole of a text; false when it is not text. */
	complete(event: EventOf<"content.completed">, place: () => Block[]): boolean {
		const { part, at } = event;
		if (!isSpoken(part)) return false;
		const lane = laneOf(event);
		const text = textOf(part);
		const live = this.#live.get(lane);
		this.#live.delete(lane);
		if (live?.kind === part.type) Object.assign(live, { text, isDone: true, endedAt: at });
		else if (text !== "") {
			place().push({ kind: part.type, key: this.#nextKey(), text, isDone: true, startedAt: at, endedAt: null });
		}
		return true;
	}

	/** Nothing more comes of what this agent was saying. */
	breakOff(lane: string): void {
		const live = this.#live.get(lane);
		if (live !== undefined) live.isDone = true;
		this.#live.delete(lane);
	}

	/** The turn is over. */
	clear(): void {
		this.#live.clear();
	}

	/** What there is so far of the texts that are being streamed: they go on from there, all others are complete. */
	resume(
		unfinished: readonly EventOf<"content.completed">[],
		placeOf: (event: EventOf<"content.completed">) => Block[],
	): void {
		const before = new Map(this.#live);
		this.#live.clear();
		for (const event of unfinished) {
			const { part } = event;
			if (!isSpoken(part)) continue;
			const lane = laneOf(event);
			const known = before.get(lane);
			before.delete(lane);
			const live = known?.kind === part.type ? known : this.#begin(part.type, event.at, () => placeOf(event));
			live.text = textOf(part);
			this.#live.set(lane, live);
		}
		for (const live of before.values()) live.isDone = true;
	}

	#begin(kind: TextBlock["kind"], at: number, place: () => Block[]): TextBlock {
		const block: TextBlock = { kind, key: this.#nextKey(), text: "", isDone: false, startedAt: at, endedAt: null };
		place().push(block);
		return block;
	}
}
