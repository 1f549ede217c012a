// Decides over a request for permission: a chain of policies, of which each allows, asks, denies or says nothing. The
// worst verdict wins, whatever the order; the order only chooses between equal verdicts. What becomes of it in the
// session's mode is decided in modes.ts.
import type { EventBodyOf } from "../../api/values/event.ts";
import type { Subject } from "../../api/values/subject.ts";

/** What a tool call wants to do. */
export interface PermissionRequest {
	/** The kind of act, for people. */
	readonly action: string;
	readonly subjects: readonly Subject[];
	/** What happens when no policy has anything to say. */
	readonly byDefault: "ask" | "allow";
}

export type Decision = "allow" | "ask" | "deny";

export interface Verdict {
	readonly decision: Decision;
	/** A sentence for people and models: which rule, mode or earlier approval decided. */
	readonly reason: string;
	/** The kind of policy that decided. */
	readonly by: EventBodyOf<"permission.decided">["by"];
	/** Whether the call would leave the confinement that the settings ask for. Only a person approves that, and no mode. */
	readonly widens?: true;
}

export interface Policy {
	readonly name: string;
	/** Null when it has nothing to say about the request. */
	decide(request: PermissionRequest): Promise<Verdict | null>;
}

const severity: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/** Whether the verdict only says why no rule allows the call: like saying nothing, but with a reason. */
export function isOpen({ decision, by }: Verdict): boolean {
	return decision === "ask" && by === "default";
}

/** The worse of two decisions; null says nothing. */
export function isWorse(one: Decision, other: Decision): boolean {
	return severity[one] > severity[other];
}

/**
 * The worst verdict of the chain, the first of equal ones; one that only says why no rule allows the call when there is
 * no other. Null when none has anything to say.
 */
export async function worstVerdict(policies: readonly Policy[], request: PermissionRequest): Promise<Verdict | null> {
	let worst: Verdict | null = null;
	for (const policy of policies) {
		const verdict = await policy.decide(request);
		if (verdict === null || (worst !== null && isOpen(verdict))) continue;
		const isStricter = verdict.decision === worst?.decision && verdict.widens === true;
		if (worst === null || isOpen(worst) || isStricter || isWorse(verdict.decision, worst.decision)) worst = verdict;
	}
	return worst;
}
