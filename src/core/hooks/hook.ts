// The types of hooks and of their decisions.

import type { HookEvent } from "../../api/values/hooks/hook-event.ts";
import { beginning } from "../../base/text/well-formed.ts";

/** A point at which hooks may run. `target` is the text that matchers are searched in. */
export interface HookPoint {
	readonly event: HookEvent;
	readonly target: string;
	/** JSON; the hook's input in addition to event, session and work dir. */
	readonly input: Readonly<Record<string, unknown>>;
}

export interface HookDecision {
	readonly action: "allow" | "block";
	/** Empty when allowed. */
	readonly reason: string;
}

export const allowed: HookDecision = { action: "allow", reason: "" };

/** Characters of a reason: as many as of a tool's output, because the model reads it in place of that. */
const longestReason = 50_000;
const cutMark = "\n[... the rest of the reason is left out ...]";

/** A longer reason is cut, with a note. */
export function blocked(reason: string): HookDecision {
	if (reason.length <= longestReason) return { action: "block", reason };
	return { action: "block", reason: beginning(reason, longestReason - cutMark.length) + cutMark };
}

interface HookBase {
	readonly event: HookEvent;
	/**
	 * A regular expression in Python's syntax, searched in the target; empty matches all, an unusable one never
	 * matches.
	 */
	readonly matcher: string;
	/** Seconds. */
	readonly timeout: number;
}

/** A hook from the settings: a shell command. */
export interface CommandHook extends HookBase {
	readonly kind: "command";
	readonly command: string;
	/** Whether a hook that crashes, times out or has an unusable matcher blocks instead of allowing. */
	readonly failClosed: boolean;
}

/** A hook that a client decides. */
export interface ClientHook extends HookBase {
	readonly kind: "client";
	/** The client, once it is attached. */
	readonly clientId?: string;
	/** The client's own name for the subscription. */
	readonly subscriptionId: string;
}

export type Hook = CommandHook | ClientHook;
