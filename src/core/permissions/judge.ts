import type { Subject } from "../../api/values/subject.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import type { PermissionRequest, Verdict } from "./policy.ts";

export type Proposal =
	| { readonly kind: "grants"; readonly patterns: readonly string[] }
	/** Why it can only be approved once; a clause without a full stop. */
	| { readonly kind: "once"; readonly why: string };

/** Whether read-only commands need no rule. "by default": only when the client does not expect to be asked. */
export type ReadOnlyMode = "always" | "by default" | "never";

export interface Judge {
	/** The verdict of rules and grants; null for none. `expectsQuestions`: the client expects to be asked. */
	decide(request: PermissionRequest, expectsQuestions?: boolean): Promise<Verdict | null>;
	propose(request: PermissionRequest): Promise<Proposal>;
	/** Whether these are commands that are known to only read, whatever the rules say. */
	changesNothing(subjects: readonly Subject[]): Promise<boolean>;
}

/** Loads the judge on the first request for which `needsJudge` is true. */
export function createLazyJudge(
	load: () => Promise<Judge>,
	needsJudge: (request: PermissionRequest) => boolean,
): Judge {
	const judge = new OnFirstUse(load);
	return {
		decide: async (request, expectsQuestions) =>
			needsJudge(request) ? await (await judge.get()).decide(request, expectsQuestions) : null,
		propose: async (request) => await (await judge.get()).propose(request),
		changesNothing: async (subjects) =>
			subjects.some(({ kind }) => kind === "command") && (await (await judge.get()).changesNothing(subjects)),
	};
}
