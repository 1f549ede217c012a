// The first settlement wins. Each kind has a fallback answer (docs/explanation/guarantees.md).

import { toolError } from "../../api/values/content.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type {
	AnswerTo,
	Interaction,
	InteractionFailure,
	InteractionKind,
	SettledBy,
} from "../../api/values/interaction.ts";
import type { Clock } from "../../base/clock.ts";

export type AnsweredBy = Extract<SettledBy, { kind: "client" | "session-grant" }>;

export type Unanswered = Exclude<SettledBy, AnsweredBy>;

interface InteractionRule<K extends InteractionKind> {
	fallback(why: Unanswered): AnswerTo<K>;
	/** Whether it waits for a later client when no attached one can answer. */
	readonly outlivesClient: "always" | "never" | "where-clients-come";
}

const closedResult = toolError("Wire connection closed before tool result was received.", "Wire closed");

const rules: { readonly [K in InteractionKind]: InteractionRule<K> } = {
	approval: {
		fallback: (why) => ({
			kind: "approval",
			decision: "reject",
			feedback: why.kind === "deadline" ? `Nobody answered the approval within ${why.seconds} s.` : "",
		}),
		outlivesClient: "always",
	},
	"client-tool": {
		fallback: (why) => ({ kind: "client-tool", result: clientToolFallback(why) }),
		outlivesClient: "never",
	},
	question: {
		fallback: () => ({ kind: "question", answers: {} }),
		outlivesClient: "where-clients-come",
	},
	hook: {
		fallback: () => ({ kind: "hook", action: "allow", reason: "" }),
		outlivesClient: "never",
	},
};

function clientToolFallback(why: Unanswered) {
	switch (why.kind) {
		case "error-reply":
			return toolError(why.message, "External tool error");
		case "malformed":
			return toolError("Invalid tool result payload from client.", "Invalid tool result");
		case "deadline":
			return toolError(`The client did not return a result within ${why.seconds} s.`, "External tool timeout");
		case "cancelled":
			return toolError("Agent turn ended before tool result was received.", "Turn ended");
		case "client-gone":
		case "shutdown":
			return closedResult;
	}
}

/** Seconds until an unanswered interaction of each kind is settled; 0 means never. Hooks have their own deadlines. */
export type InteractionDeadlines = { readonly [K in Exclude<InteractionKind, "hook">]: number };

export interface Settlement<K extends InteractionKind> {
	readonly answer: AnswerTo<K>;
	readonly by: SettledBy;
}

export type AbleClients = (interaction: Interaction) => readonly string[];

interface OpenInteraction {
	readonly interaction: Interaction;
	settleWithAnswer(answer: AnswerTo<InteractionKind>, by: AnsweredBy): boolean;
	settleWithout(why: Unanswered): void;
	/** The request as delivered to clients; null while being stored. */
	request: AgentEvent | null;
	readonly failed: Map<string, InteractionFailure>;
}

/** Number of settled interactions kept to report who settled them. */
const remembered = 1000;

export class InteractionTable {
	readonly #deadlines: InteractionDeadlines;
	readonly #clock: Clock;
	readonly #ableClients: AbleClients;
	readonly #expectsClients: boolean;
	readonly #open = new Map<string, OpenInteraction>();
	/** The most recent ones, oldest first. */
	readonly #settled = new Map<string, SettledBy>();

	/** With `expectsClients`, questions outlive the clients that can answer them. */
	constructor(deadlines: InteractionDeadlines, clock: Clock, ableClients: AbleClients, expectsClients = false) {
		this.#deadlines = deadlines;
		this.#clock = clock;
		this.#ableClients = ableClients;
		this.#expectsClients = expectsClients;
	}

	/** Adds the interaction, starts its deadline, and resolves when it is settled. Aborting the signal cancels it. */
	wait<K extends Exclude<InteractionKind, "hook">>(
		interaction: Extract<Interaction, { kind: K }>,
		kind: K,
		signal: AbortSignal,
	): Promise<Settlement<K>> {
		return this.waitFor(interaction, kind, this.#deadlines[kind], signal);
	}

	/** The same with a given deadline in seconds; 0 means never. */
	waitFor<K extends InteractionKind>(
		interaction: Extract<Interaction, { kind: K }>,
		kind: K,
		seconds: number,
		signal: AbortSignal,
	): Promise<Settlement<K>> {
		return new Promise((resolve) => {
			const settle = (settlement: Settlement<K>) => {
				this.#open.delete(interaction.id);
				this.#remember(interaction.id, settlement.by);
				withdraw();
				signal.removeEventListener("abort", onAbort);
				resolve(settlement);
			};
			const settleWithout = (why: Unanswered) => settle({ answer: rules[kind].fallback(why), by: why });
			const onAbort = () => settleWithout({ kind: "cancelled" });
			const withdraw =
				seconds > 0 ? this.#clock.after(seconds * 1000, () => settleWithout({ kind: "deadline", seconds })) : () => {};
			this.#open.set(interaction.id, {
				interaction,
				settleWithAnswer: (answer, by) => {
					if (!isAnswerTo(answer, kind)) return false;
					settle({ answer, by });
					return true;
				},
				settleWithout,
				request: null,
				failed: new Map(),
			});
			signal.addEventListener("abort", onAbort, { once: true });
			if (signal.aborted) onAbort();
		});
	}

	/** Returns false when it is not open. A client failure settles it once no other client could answer. */
	answer(interactionId: string, answer: AnswerTo<InteractionKind> | InteractionFailure, by: AnsweredBy): boolean {
		const open = this.#open.get(interactionId);
		if (open === undefined) return false;
		const isFailure = answer.kind === "error-reply" || answer.kind === "malformed";
		if (!isFailure && open.settleWithAnswer(answer, by)) return true;
		const failure: InteractionFailure = isFailure ? answer : { kind: "malformed" };
		if (by.kind === "client" && by.clientId !== null) open.failed.set(by.clientId, failure);
		if (open.failed.size > 0 && this.#others(open).length > 0) return false;
		open.settleWithout(failure);
		return true;
	}

	/** Who or what settled this interaction; null when open, unknown or settled long ago. */
	settledBy(interactionId: string): SettledBy | null {
		return this.#settled.get(interactionId) ?? null;
	}

	#remember(interactionId: string, by: SettledBy): void {
		this.#settled.set(interactionId, by);
		const [oldest] = this.#settled.keys();
		if (this.#settled.size > remembered && oldest !== undefined) this.#settled.delete(oldest);
	}

	interactions(): readonly Interaction[] {
		return [...this.#open.values()].map(({ interaction }) => interaction);
	}

	/** Whether an approval or question is open. */
	get isForPerson(): boolean {
		return this.interactions().some(({ kind }) => kind === "approval" || kind === "question");
	}

	noteDelivered(event: AgentEvent): void {
		if (event.body.type !== "interaction.requested") return;
		const open = this.#open.get(event.body.interaction.id);
		if (open !== undefined) open.request = event;
	}

	/** Requests of open interactions as delivered, oldest first. */
	requests(): readonly AgentEvent[] {
		return [...this.#open.values()].flatMap(({ request }) => request ?? []);
	}

	/** Settles interactions that no remaining client can answer, unless they wait for a later one. */
	clientGone(): void {
		for (const open of [...this.#open.values()]) {
			if (this.#others(open).length > 0) continue;
			const failure = this.#ableClients(open.interaction).flatMap((id) => open.failed.get(id) ?? [])[0];
			if (failure !== undefined) open.settleWithout(failure);
			else if (!this.#outlivesClient(open.interaction.kind)) open.settleWithout({ kind: "client-gone" });
		}
	}

	#outlivesClient(kind: InteractionKind): boolean {
		const outlives = rules[kind].outlivesClient;
		return outlives === "always" || (outlives === "where-clients-come" && this.#expectsClients);
	}

	#others({ interaction, failed }: OpenInteraction): readonly string[] {
		return this.#ableClients(interaction).filter((id) => !failed.has(id));
	}

	settleAll(): void {
		for (const open of [...this.#open.values()]) open.settleWithout({ kind: "shutdown" });
	}
}

function isAnswerTo<K extends InteractionKind>(answer: AnswerTo<InteractionKind>, kind: K): answer is AnswerTo<K> {
	return answer.kind === kind;
}
