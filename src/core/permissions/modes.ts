// What becomes of a verdict in the session's mode: somebody is asked, or the mode answers for them. A denial holds in
// every mode.
import { isOpen, type Verdict } from "./policy.ts";

/** The circumstances in which a call is decided. */
export interface Circumstances {
	/** Whether everything is approved that is not denied and does not leave the sandbox. */
	readonly isYolo: boolean;
	/** Whether nobody is at the keyboard, and whether what no rule speaks of is approved then. */
	readonly isAway: boolean;
	readonly approvesWhileAway: boolean;
	/** Whether a client that answers approvals is attached. */
	readonly canAsk: boolean;
	/** What happens to a call that no rule speaks of when nobody can be asked. */
	readonly whenUnattended: WhenUnattended;
}

/**
 * `creator`: approved, because whoever created the session gave it its tools and answers no approvals. `wait`: it is asked
 * all the same, and stays open for a client that comes later.
 */
export type WhenUnattended = "approve" | "creator" | "reject" | "wait";

export type Settled =
	| { readonly decision: "allow" | "deny"; readonly reason: string; readonly by: Verdict["by"] }
	/** Why it is not allowed without asking; null when no rule speaks of the call. */
	| { readonly decision: "ask"; readonly reason: string | null };

/** Settles what the policies say; null is a call that needs an approval and of which they say nothing. */
export function settle(said: Verdict | null, circumstances: Circumstances): Settled {
	const verdict = said === null || isOpen(said) ? null : said;
	const { isYolo, isAway, approvesWhileAway, canAsk, whenUnattended } = circumstances;
	if (verdict !== null && verdict.decision !== "ask") return { ...verdict, decision: verdict.decision };
	const because = verdict === null ? "" : ` ${verdict.reason}`;
	if (isYolo && verdict?.widens !== true)
		return { decision: "allow", by: "mode", reason: `Everything is approved (yolo).${because}` };
	if (isAway) {
		const { by, reason } = verdict ?? ({ by: "mode", reason: "The tool call needs an approval." } as const);
		if (verdict === null && approvesWhileAway)
			return { decision: "allow", by, reason: "Nobody is at the keyboard (afk)." };
		return { decision: "deny", by, reason: `${reason} Nobody is at the keyboard to approve it (afk).` };
	}
	if (canAsk || whenUnattended === "wait") return { decision: "ask", reason: said?.reason ?? null };
	if (verdict !== null) {
		return {
			decision: "deny",
			by: verdict.by,
			reason: `${verdict.reason} No client is connected that gives approvals.`,
		};
	}
	return unattended[whenUnattended];
}

const unattended = {
	approve: { decision: "allow", reason: "No client is connected that gives approvals.", by: "default" },
	creator: { decision: "allow", reason: "Whoever created the session gave it this tool.", by: "creator" },
	reject: {
		decision: "deny",
		reason: "The tool call needs an approval, and no client is connected that gives any.",
		by: "default",
	},
} as const satisfies Readonly<Record<Exclude<WhenUnattended, "wait">, Settled>>;
