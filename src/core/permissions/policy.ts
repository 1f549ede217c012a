// Policies allow, ask, deny or abstain. The strictest verdict wins; order only breaks ties.
import type { EventBodyOf } from "../../api/values/event.ts";
import type { Subject } from "../../api/values/subject.ts";

export interface PermissionRequest {
	/** The kind of act, for display. */
	readonly action: string;
	readonly subjects: readonly Subject[];
	readonly byDefault: "ask" | "allow";
}

export type Decision = "allow" | "ask" | "deny";

export interface Verdict {
	readonly decision: Decision;
	/** A sentence for users and models: which rule, mode or earlier approval decided. */
	readonly reason: string;
	readonly by: EventBodyOf<"permission.decided">["by"];
	/** Whether the call would leave the configured sandbox. Only a person can approve that, no mode can. */
	readonly widens?: true;
}

export interface Policy {
	readonly name: string;
	decide(request: PermissionRequest): Promise<Verdict | null>;
}

const severity: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/** Whether the verdict is an abstention with a reason: it only says why no rule allows the call. */
export function isOpen({ decision, by }: Verdict): boolean {
	return decision === "ask" && by === "default";
}

/** Whether `one` is stricter than `other`; null is an abstention. */
export function isWorse(one: Decision, other: Decision): boolean {
	return severity[one] > severity[other];
}

/** The strictest verdict, the first among equals. Falls back to an abstention with a reason, else null. */
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
