// Turns a verdict into a decision for the session's mode: ask the user, or answer for them. A denial holds in every mode.

import type { WhenUnattended } from "../../api/values/session-mode.ts";
import { isOpen, type Verdict } from "./policy.ts";

export interface Circumstances {
	/** Whether everything is approved that is not denied and stays in the sandbox. */
	readonly isYolo: boolean;
	/** Whether the user is away, which approves calls without a matching rule. */
	readonly isAway: boolean;
	readonly approvesWhileAway: boolean;
	/** Whether a client that answers approvals is attached. */
	readonly canAsk: boolean;
	/** What happens to a call without a matching rule when no client can answer. */
	readonly whenUnattended: WhenUnattended;
}

export type Settled =
	| { readonly decision: "allow" | "deny"; readonly reason: string; readonly by: Verdict["by"] }
	/** Why it needs approval; null without a matching rule. */
	| { readonly decision: "ask"; readonly reason: string | null };

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
