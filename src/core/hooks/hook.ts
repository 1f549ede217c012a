import type { HookEvent } from "../../api/values/hooks/hook-event.ts";
import { beginning } from "../../base/text/well-formed.ts";

/** A point at which hooks run. `target` is the text that matchers search. */
export interface HookPoint {
	readonly event: HookEvent;
	readonly target: string;
	/** JSON; the hook's input besides event, session and work directory. */
	readonly input: Readonly<Record<string, unknown>>;
}

export interface HookDecision {
	readonly action: "allow" | "block";
	/** Empty if allowed. */
	readonly reason: string;
}

export const allowed: HookDecision = { action: "allow", reason: "" };

/** Maximum characters of a reason, the same as for tool output, because the model reads it in its place. */
const longestReason = 50_000;
const cutMark = "\n[... the rest of the reason is left out ...]";

/** Truncates a long reason, with a note. */
export function blocked(reason: string): HookDecision {
	if (reason.length <= longestReason) return { action: "block", reason };
	return { action: "block", reason: beginning(reason, longestReason - cutMark.length) + cutMark };
}
