// The policies that every session has: its modes, the approvals given for the session, and what happens when nobody can
// be asked.
import { isDeepStrictEqual } from "node:util";
import type { Subject } from "../events/subject.ts";
import type { PermissionRequest, Policy } from "./policy.ts";

/** An approval for the session, as data. */
export interface SessionGrant {
	readonly action: string;
	/** The subjects that it covers; absent for whatever the action does. */
	readonly subjects?: readonly Subject[];
}

/** Allows everything while the mode is on. */
export function createModePolicy(name: string, reason: string, isOn: () => boolean): Policy {
	return { name, decide: () => (isOn() ? { decision: "allow", reason, by: "mode" } : null) };
}

/** Allows what a person approved for the session. */
export function createGrantPolicy(grants: () => readonly SessionGrant[]): Policy {
	return {
		name: "session grants",
		decide(request) {
			if (!grants().some((grant) => covers(grant, request))) return null;
			const reason = `The action "${request.action}" was approved for the session.`;
			return { decision: "allow", reason, by: "session-grant" };
		},
	};
}

function covers({ action, subjects }: SessionGrant, request: PermissionRequest): boolean {
	if (action !== request.action) return false;
	if (subjects === undefined) return true;
	return request.subjects.every((wanted) => subjects.some((granted) => isDeepStrictEqual(granted, wanted)));
}

export interface UnattendedSettings {
	/** Whether a client that answers approvals is attached. */
	canAsk(): boolean;
	/** What happens to a call when there is none. */
	readonly whenUnattended: "approve" | "reject";
}

/** Decides where nobody can be asked; says nothing while somebody can. */
export function createUnattendedPolicy({ canAsk, whenUnattended }: UnattendedSettings): Policy {
	const verdicts = {
		approve: { decision: "allow", reason: "No client is connected that gives approvals.", by: "default" },
		reject: {
			decision: "deny",
			reason: "The tool call needs an approval, and no client is connected that gives any.",
			by: "default",
		},
	} as const;
	return { name: "unattended", decide: () => (canAsk() ? null : verdicts[whenUnattended]) };
}
