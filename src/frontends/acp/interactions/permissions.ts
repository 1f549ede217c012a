import * as v from "valibot";
import type { Answer, ApprovalInteraction } from "../../../api/values/interaction.ts";
import { type PermissionOption, permissionResultSchema } from "../wire-updates.ts";

type Decision = Extract<Answer, { kind: "approval" }>["decision"];

/** The ids that clients may answer with, including ids of earlier agents. */
const decisions: Readonly<Record<string, Decision>> = {
	approve: "approve",
	approve_once: "approve",
	approve_for_session: "approve_for_session",
	approve_always: "approve_for_session",
	reject: "reject",
	reject_once: "reject",
};

/** The session option's name says what the approval would cover. */
export function permissionOptions({ grants = [] }: ApprovalInteraction): readonly PermissionOption[] {
	return [
		{ optionId: "approve", name: "Allow once", kind: "allow_once" },
		...(grants.length === 0
			? []
			: [
					{
						optionId: "approve_for_session",
						name: `Allow for this session: ${grants.join(", ")}`,
						kind: "allow_always" as const,
					},
				]),
		{ optionId: "reject", name: "Reject", kind: "reject_once" },
	];
}

export function readApproval(result: unknown): Answer | null {
	const chosen = readChoice(result);
	if (chosen === null) return null;
	const decision = Object.hasOwn(decisions, chosen) ? (decisions[chosen] ?? "reject") : "reject";
	return { kind: "approval", decision, feedback: "" };
}

/** The id of the chosen option, empty if canceled; null for an invalid result. */
export function readChoice(result: unknown): string | null {
	const parsed = v.safeParse(permissionResultSchema, result);
	if (!parsed.success) return null;
	const { outcome } = parsed.output;
	return outcome.outcome === "selected" ? outcome.optionId : "";
}
