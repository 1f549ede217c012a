import { interjections } from "../api/values/delta-merger.ts";
import type { AgentEvent, EventBody } from "../api/values/event.ts";
import { findAnswers, type PlayedAnswer } from "./answers.ts";
import { findCalls, type PlayedCall } from "./calls.ts";

const concurrentHooks: ReadonlySet<string> = new Set([
	"PostToolUse",
	"PostToolUseFailure",
	"PostCompact",
	"StopFailure",
	"SubagentStop",
	"Notification",
]);

/** Whether the event's place is free: calls and some hooks run concurrently. */
export function isFloating(body: EventBody): boolean {
	switch (body.type) {
		case "permission.decided":
		case "tool.started":
		case "tool.ended":
		// Side questions run in parallel with everything.
		case "side-question.started":
		case "side-question.ended":
			return true;
		case "hook.triggered":
		case "hook.resolved":
			return concurrentHooks.has(body.event);
		case "interaction.requested":
			return (
				body.interaction.kind === "client-tool" ||
				(body.interaction.kind === "hook" && concurrentHooks.has(body.interaction.event))
			);
		case "interaction.resolved":
			return body.answer.kind === "hook";
		default:
			return false;
	}
}

export class Score {
	readonly key: string;
	readonly events: readonly AgentEvent[];
	readonly calls: readonly PlayedCall[];
	readonly answers: PlayedAnswer[];
	position = 0;
	readonly #matched: boolean[];
	/** The part that the kernel has, and whose event waits for the next one. */
	#released = -1;

	constructor(key: string, events: readonly AgentEvent[]) {
		this.key = key;
		this.events = events;
		this.calls = findCalls(events);
		this.answers = findAnswers(events);
		this.#matched = events.map(() => false);
		this.#advance();
	}

	body(index: number): EventBody | undefined {
		return this.events[index]?.body;
	}

	get isOver(): boolean {
		return this.#matched.every((isMatched) => isMatched);
	}

	isMatched(index: number): boolean {
		return this.#matched[index] === true;
	}

	match(index: number): void {
		this.#matched[index] = true;
		this.#advance();
	}

	get missing(): AgentEvent | undefined {
		return this.events.find((_, index) => !this.isMatched(index));
	}

	#advance(): void {
		for (let body = this.body(this.position); body !== undefined; body = this.body(this.position)) {
			if (!this.isMatched(this.position) && !isFloating(body)) return;
			this.position += 1;
		}
	}

	/** Whether everything before this event was replayed, or is about to be stored with it. */
	isReached(index: number): boolean {
		if (this.position >= index) return true;
		const isFlushing = !interjections.has(this.body(index)?.type ?? "turn.ended");
		return isFlushing && this.position === this.#fixedBefore(index) && this.#released === this.position;
	}

	/** The same including floating events, which outside events follow. */
	isPast(index: number): boolean {
		return (
			this.isReached(index) &&
			this.#matched.slice(0, index).every((isMatched, before) => isMatched || before === this.#released)
		);
	}

	/** Whether this part can be streamed: its event is stored with the next one. */
	isOpen(index: number): boolean {
		let before = this.#fixedBefore(index);
		while (before >= 0 && interjections.has(this.body(before)?.type ?? "turn.ended"))
			before = this.#fixedBefore(before);
		return this.position > before || (this.position === before && this.#released === before);
	}

	/** The last event before this one that has its place. */
	#fixedBefore(index: number): number {
		let before = index - 1;
		for (let body = this.body(before); body !== undefined && isFloating(body); body = this.body(before)) before -= 1;
		return before;
	}

	release(index: number): void {
		this.#released = index;
	}

	/** The call that was requested last with this id, and not opened yet. */
	callOf(id: string): PlayedCall | null {
		return (
			this.calls.findLast(
				({ call, requestedAt, isOpened }) => call.id === id && requestedAt < this.position && !isOpened,
			) ?? null
		);
	}
}
