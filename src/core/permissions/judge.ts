// What the kernel asks of the rules of a session. The rules themselves, and the reading of shell scripts, are loaded
// when there is something to judge.
import type { PermissionRequest, Verdict } from "./policy.ts";

/** What an approval for the session would cover. */
export type Proposal =
	/** The grants to store, as patterns of rules. */
	| { readonly kind: "grants"; readonly patterns: readonly string[] }
	/** Why it can only be approved once: a clause without full stop. */
	| { readonly kind: "once"; readonly why: string };

export interface Judge {
	/** What rules and grants say; null for nothing. */
	decide(request: PermissionRequest): Promise<Verdict | null>;
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
		decide: async (request) => (needsJudge(request) ? await (await loaded()).decide(request) : null),
		propose: async (request) => await (await loaded()).propose(request),
	};
}
