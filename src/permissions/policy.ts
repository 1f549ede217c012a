// Decides over a request for permission: a chain of policies, of which each allows, asks, denies or says nothing. The
// worst verdict wins, whatever the order; the order only chooses between equal verdicts.
import type { EventBodyOf } from "../events/event.ts";
import type { Subject } from "../events/subject.ts";

/** What a tool call wants to do. */
export interface PermissionRequest {
	/** The key of session grants. */
	readonly action: string;
	readonly subjects: readonly Subject[];
}

export interface Verdict {
	readonly decision: "allow" | "ask" | "deny";
	/** A sentence for people and models: which rule, mode or earlier approval decided. */
	readonly reason: string;
	/** The kind of policy that decided. */
	readonly by: EventBodyOf<"permission.decided">["by"];
}

export interface Policy {
	readonly name: string;
	/** Null when it has nothing to say about the request. */
	decide(request: PermissionRequest): Verdict | null;
}

export interface PolicyChain {
	readonly policies: readonly Policy[];
	/** Speaks where the others came to ask, or said nothing: only it knows whether anybody can be asked. */
	readonly fallback: Policy;
}

const severity: Readonly<Record<Verdict["decision"], number>> = { allow: 0, ask: 1, deny: 2 };

const unsaid: Verdict = { decision: "ask", reason: "No policy decides over it.", by: "default" };

/** The verdict of the chain; a request over which nothing was said is asked. */
export function decide({ policies, fallback }: PolicyChain, request: PermissionRequest): Verdict {
	const worst = worstVerdict(policies, request) ?? unsaid;
	return worst.decision === "ask" ? (fallback.decide(request) ?? worst) : worst;
}

function worstVerdict(policies: readonly Policy[], request: PermissionRequest): Verdict | null {
	let worst: Verdict | null = null;
	for (const policy of policies) {
		const verdict = policy.decide(request);
		if (verdict === null) continue;
		if (worst === null || severity[verdict.decision] > severity[worst.decision]) worst = verdict;
	}
	return worst;
}
