// Tracks each agent's position, gives outside events at their place, and stops at the first difference.
import type { AgentEvent, EventBody } from "../api/values/event.ts";
import { createDeferred } from "../base/deferred.ts";
import { isRecorded } from "../formats/record.ts";
import { type Difference, findDifference, toComparable, whyNotCompared } from "./comparison.ts";
import { isFloating, type Score } from "./score.ts";

/** Something from outside; it happens as soon as its time has come. */
export interface Cue {
	isDue(): boolean;
	/** Must take effect before it returns. */
	give(): void;
}

export const mainKey = "";

export function keyOf({ agentPath }: Pick<AgentEvent, "agentPath">): string {
	return agentPath.map(({ parentToolCallId, agentId }) => parentToolCallId ?? agentId ?? "?").join("/");
}

export class Conductor {
	readonly scores: ReadonlyMap<string, Score>;
	readonly #ended = createDeferred<Difference | null>();
	/** The ids of the replay's interactions, by the recorded ones. */
	readonly #interactions = new Map<string, string>();
	#cues: Cue[] = [];
	#isOver = false;
	#isFromLog = false;
	/** The difference, also one after the end of the recording. */
	surplus: Difference | null = null;
	/** Counted to notice a stalled replay. */
	steps = 0;

	constructor(scores: ReadonlyMap<string, Score>) {
		this.scores = scores;
		this.#isFromLog = [...scores.values()].some(({ events }) => events.some((event) => event.isFromLog === true));
	}

	get ended(): Promise<Difference | null> {
		return this.#ended.promise;
	}

	add(cue: Cue): void {
		this.#cues.push(cue);
		this.#giveDue();
	}

	when(isDue: () => boolean): Promise<void> {
		return new Promise((resolve) => this.add({ isDue, give: resolve }));
	}

	/** A part of an answer was passed to the kernel. */
	release(score: Score, index: number): void {
		score.release(index);
		this.#giveDue();
	}

	interactionOf(recordedId: string): string {
		return this.#interactions.get(recordedId) ?? "";
	}

	/** Takes an event that the replay has stored. */
	take(event: AgentEvent): void {
		this.steps += 1;
		if (this.#isOver || whyNotCompared(event) !== null) return;
		const score = this.scores.get(keyOf(event));
		const index = score === undefined ? -1 : this.#placeOf(event.body, score);
		const expected = score?.events[index];
		const isFromLog = expected?.isFromLog ?? (expected === undefined && this.#isFromLog);
		if (isFromLog && !isRecorded(event)) return;
		if (score === undefined || expected === undefined) {
			this.differ({ seq: null, place: "", recorded: "nothing", replayed: JSON.stringify(event.body) });
			return;
		}
		const found =
			findDifference(
				toComparable(withoutSummary(expected.body, score)),
				toComparable(withoutSummary(event.body, score)),
				isFromLog,
			) ?? this.#pair(expected.body, event.body);
		if (found !== null) {
			this.differ({ seq: expected.seq ?? null, ...found });
			return;
		}
		score.match(index);
		this.#giveDue();
		if ([...this.scores.values()].every(({ isOver }) => isOver)) this.#ended.resolve(null);
	}

	/** The first place left, or anywhere later if the event floats. */
	#placeOf(body: EventBody, score: Score): number {
		if (!isFloating(body)) return score.position;
		const found = score.events.findIndex(
			({ body: recorded }, index) => !score.isMatched(index) && isFloating(recorded) && this.#isAbout(recorded, body),
		);
		return found === -1 ? score.position : found;
	}

	#isAbout(recorded: EventBody, replayed: EventBody): boolean {
		if (recorded.type === "interaction.resolved" && replayed.type === "interaction.resolved")
			return this.#interactions.get(recorded.interactionId) === replayed.interactionId;
		const subject = subjectOf(replayed);
		return recorded.type === replayed.type && subject === subjectOf(recorded);
	}

	knows(recordedId: string): boolean {
		return this.#interactions.has(recordedId);
	}

	/** Replayed ids of interactions are new, so they are paired. */
	#pair(recorded: EventBody, replayed: EventBody): Omit<Difference, "seq"> | null {
		if (recorded.type === "interaction.requested" && replayed.type === "interaction.requested")
			this.#interactions.set(recorded.interaction.id, replayed.interaction.id);
		if (recorded.type !== "interaction.resolved" || replayed.type !== "interaction.resolved") return null;
		const { interactionId } = recorded;
		const own = this.#interactions.get(interactionId) ?? "";
		if (own === replayed.interactionId) return null;
		return { place: "interactionId", recorded: interactionId, replayed: "that of another interaction" };
	}

	differ(difference: Difference): void {
		this.#isOver = true;
		this.surplus = difference;
		this.#ended.resolve(difference);
	}

	/** Ignores later events. */
	close(): void {
		this.#isOver = true;
	}

	missing(): Difference {
		const left = [...this.scores.values()].flatMap(({ missing }) => missing ?? []);
		const [first] = left.sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
		return { seq: first?.seq ?? null, place: "", recorded: JSON.stringify(first?.body ?? null), replayed: "nothing" };
	}

	#giveDue(): void {
		for (;;) {
			const due = this.#cues.find((cue) => cue.isDue());
			if (due === undefined) return;
			this.#cues = this.#cues.filter((cue) => cue !== due);
			this.steps += 1;
			due.give();
		}
	}
}

function subjectOf(body: EventBody): string {
	if ("toolCallId" in body && typeof body.toolCallId === "string") return body.toolCallId;
	if (body.type === "side-question.started" || body.type === "side-question.ended") return body.id;
	if (body.type === "interaction.requested")
		return body.interaction.kind === "hook"
			? `${body.interaction.subscriptionId} ${body.interaction.event} ${body.interaction.target}`
			: `${body.interaction.toolCallId} ${"arguments" in body.interaction ? body.interaction.arguments : ""}`;
	return "event" in body ? `${body.event} ${body.target}` : "";
}

/** The token count after a compaction depends on the summary, which is not recorded. */
function withoutSummary(body: EventBody, { events, position }: Score): unknown {
	const before = events
		.slice(0, position)
		.findLast(
			(event) =>
				event.body.type === "compaction.ended" ||
				(event.body.type === "status.changed" && event.body.token_usage !== null),
		);
	const current = events[position]?.body;
	if (before?.body.type !== "compaction.ended" || current?.type !== "status.changed" || current.token_usage !== null)
		return body;
	return { type: body.type, plan_mode: "plan_mode" in body ? body.plan_mode : null };
}
