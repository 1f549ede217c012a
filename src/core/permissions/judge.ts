// What the kernel asks of the rules of a session. The rules themselves, and the reading of shell scripts, are loaded
// when there is something to judge.
import type { PermissionRequest, Verdict } from "./policy.ts";

/** What an approval for the session would cover. */
export type Proposal =
	/** The grants to store, as patterns of rules. */
	| { readonly kind: "grants"; readonly patterns: readonly string[] }
	/** Why it can only be approved once: a clause without full stop. */
	| { readonly kind: "once"; readonly why: string };

/** Whether commands that only read need no rule; by default they need none, unless the client expects to be asked. */
export type ReadOnlyMode = "always" | "by default" | "never";

export interface Judge {
	/** What rules and grants say; null for nothing. `expectsQuestions` says whether the client expects to be asked. */
	decide(request: PermissionRequest, expectsQuestions?: boolean): Promise<Verdict | null>;
	propose(request: PermissionRequest): Promise<Proposal>;
}

/** Loads the judge for the first request that it must judge; `needsJudge` says whether it can have anything to say. */
export function createLazyJudge(
	load: () => Promise<Judge>,
	needsJudge: (request: PermissionRequest) => boolean,
): Judge {
	let loading: Promise<Judge> | null = null;
	const loaded = (): Promise<Judge> => {
		loading ??= load().catch((thrown: unknown) => {
			loading = null;
			throw thrown;
		});
		return loading;
	};
	return {
		decide: async (request, expectsQuestions) =>
			needsJudge(request) ? await (await loaded()).decide(request, expectsQuestions) : null,
		propose: async (request) => await (await loaded()).propose(request),
	};
}
