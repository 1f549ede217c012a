// Conducts a replay: knows how far each agent is in its recorded events, lets what comes from outside of the kernel happen at
// the place where it happened, and stops at the first difference.
import type { AgentEvent, EventBody } from "../api/values/event.ts";
import { createDeferred } from "../base/deferred.ts";
import { isRecorded } from "../formats/record.ts";
import { type Difference, findDifference, toComparable, whyNotCompared } from "./comparison.ts";
import { isFloating, type Score } from "./score.ts";

/** Something from outside; it happens as soon as its time has come. */
export interface Cue {
	/** Whether everything before it was replayed. */
	isDue(): boolean;
	/** Must take effect before it returns. */
	give(): void;
}

/** The key of the session's own agent. */
export const mainKey = "";

/** Names the agent of an event by the call that started it. */
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
	/** Counts steps, so that a stalled replay can be noticed. */
	steps = 0;

	constructor(scores: ReadonlyMap<string, Score>) {
		this.scores = scores;
		this.#isFromLog = [...scores.values()].some(({ events }) => events.some((event) => event.isFromLog === true));
	}

	/** Resolves with the first difference, or null once every recorded event was replayed. */
	get ended(): Promise<Difference | null> {
		return this.#ended.promise;
	}

	add(cue: Cue): void {
		this.#cues.push(cue);
		this.#giveDue();
	}

	/** Resolves once it is due. */
	when(isDue: () => boolean): Promise<void> {
		return new Promise((resolve) => this.add({ isDue, give: resolve }));
	}

	/** A part of an answer was handed to the kernel. */
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

	/** Where the event is in the recording if it is there: at the first place left, or anywhere later if that is free. */
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

	/** Ids of interactions are new, and mean the same ones. */
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

	/** Nothing that comes now counts. */
	close(): void {
		this.#isOver = true;
	}

	/** The difference when nothing happens anymore. */
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

/** What a floating event is about. */
function subjectOf(body: EventBody): string {
	if ("toolCallId" in body && typeof body.toolCallId === "string") return body.toolCallId;
	if (body.type === "side-question.started" || body.type === "side-question.ended") return body.id;
	if (body.type === "interaction.requested")
		return body.interaction.kind === "hook"
			? `${body.interaction.subscriptionId} ${body.interaction.event} ${body.interaction.target}`
			: `${body.interaction.toolCallId} ${"arguments" in body.interaction ? body.interaction.arguments : ""}`;
	return "event" in body ? `${body.event} ${body.target}` : "";
}

/** How many tokens a context has after a compaction depends on the summary, which no event has. */
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
