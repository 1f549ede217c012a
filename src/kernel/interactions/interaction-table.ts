// All open interactions of a session in one table keyed by interaction id. The first settlement wins; later ones change
// nothing. One row per kind defines its fallback answer (docs/guarantees.md).
import type { Clock } from "../../base/clock.ts";
import { toolError } from "../../events/content.ts";
import type { AnswerTo, Interaction, InteractionFailure, InteractionKind } from "../../events/interaction.ts";

/** Why an interaction was settled without an answer of the client. */
export type Unanswered =
	| InteractionFailure
	| { readonly kind: "deadline"; readonly seconds: number }
	| { readonly kind: "cancelled" }
	| { readonly kind: "client-gone" }
	| { readonly kind: "shutdown" };

interface InteractionRule<K extends InteractionKind> {
	/** The fallback answer. */
	fallback(why: Unanswered): AnswerTo<K>;
	/** Whether the interaction stays open, to be delivered again, when the last client detaches. */
	readonly outlivesClient: boolean;
}

const closedResult = toolError("Wire connection closed before tool result was received.", "Wire closed");

const rules: { readonly [K in InteractionKind]: InteractionRule<K> } = {
	approval: {
		fallback: (why) => ({
			kind: "approval",
			decision: "reject",
			feedback: why.kind === "deadline" ? `Nobody answered the approval within ${why.seconds} s.` : "",
		}),
		outlivesClient: true,
	},
	"client-tool": {
		fallback: (why) => ({ kind: "client-tool", result: clientToolFallback(why) }),
		outlivesClient: false,
	},
	question: {
		fallback: () => ({ kind: "question", answers: {} }),
		outlivesClient: false,
	},
	hook: {
		fallback: () => ({ kind: "hook", action: "allow", reason: "" }),
		outlivesClient: false,
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

/**
 * Seconds until an interaction of each kind is settled without an answer; 0 means never. Hooks have their own
 * deadlines.
 */
export type InteractionDeadlines = { readonly [K in Exclude<InteractionKind, "hook">]: number };

/** Who answered: a client, or the kernel because of an approval for the session. */
export type AnsweredBy = "client" | "session-approval";

export interface Settlement<K extends InteractionKind> {
	readonly answer: AnswerTo<K>;
	readonly by: AnsweredBy | Unanswered;
}

interface OpenInteraction {
	readonly interaction: Interaction;
	settleWithAnswer(answer: AnswerTo<InteractionKind>, by: AnsweredBy): boolean;
	settleWithout(why: Unanswered): void;
}

export class InteractionTable {
	readonly #deadlines: InteractionDeadlines;
	readonly #clock: Clock;
	readonly #open = new Map<string, OpenInteraction>();

	constructor(deadlines: InteractionDeadlines, clock: Clock) {
		this.#deadlines = deadlines;
		this.#clock = clock;
	}

	/**
	 * Adds the interaction, starts its deadline, and resolves when it is settled. The signal settles it as cancelled.
	 */
	wait<K extends Exclude<InteractionKind, "hook">>(
		interaction: Extract<Interaction, { kind: K }>,
		kind: K,
		signal: AbortSignal,
	): Promise<Settlement<K>> {
		return this.waitFor(interaction, kind, this.#deadlines[kind], signal);
	}

	/** The same with the given deadline, in seconds; 0 means never. */
	waitFor<K extends InteractionKind>(
		interaction: Extract<Interaction, { kind: K }>,
		kind: K,
		seconds: number,
		signal: AbortSignal,
	): Promise<Settlement<K>> {
		return new Promise((resolve) => {
			const settle = (settlement: Settlement<K>) => {
				this.#open.delete(interaction.id);
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
			});
			signal.addEventListener("abort", onAbort, { once: true });
			if (signal.aborted) onAbort();
		});
	}

	/** Settles an interaction with a client's answer; false when it is not open. */
	answer(interactionId: string, answer: AnswerTo<InteractionKind> | InteractionFailure, by: AnsweredBy): boolean {
		const open = this.#open.get(interactionId);
		if (open === undefined) return false;
		if (answer.kind === "error-reply" || answer.kind === "malformed") open.settleWithout(answer);
		else if (!open.settleWithAnswer(answer, by)) open.settleWithout({ kind: "malformed" });
		return true;
	}

	/** The open interactions, oldest first. */
	interactions(): readonly Interaction[] {
		return [...this.#open.values()].map(({ interaction }) => interaction);
	}

	/** The last client has detached: settles the interactions that do not wait for another client. */
	clientGone(): void {
		for (const open of [...this.#open.values()]) {
			if (!rules[open.interaction.kind].outlivesClient) open.settleWithout({ kind: "client-gone" });
		}
	}

	settleAll(): void {
		for (const open of [...this.#open.values()]) open.settleWithout({ kind: "shutdown" });
	}
}

function isAnswerTo<K extends InteractionKind>(answer: AnswerTo<InteractionKind>, kind: K): answer is AnswerTo<K> {
	return answer.kind === kind;
}
