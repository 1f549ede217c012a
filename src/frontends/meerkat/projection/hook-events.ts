// What hooks are in the events of Meerkat RPC: those of the settings by their hook event, those of a session by their ids.
import type { SessionHookVerdict } from "../../../api/values/hooks/session-hook.ts";
import type { HookPoint, MeerkatEvent } from "../wire/wire-events.ts";
import { faultText } from "./failures.ts";

/** The hook events under this protocol's names. */
const hookPoints: Readonly<Record<string, HookPoint>> = {
	UserPromptSubmit: "run_started",
	Stop: "run_completed",
	StopFailure: "run_failed",
	PreToolUse: "pre_tool_execution",
	PostToolUse: "post_tool_execution",
	PostToolUseFailure: "post_tool_execution",
};

/** A blocking hook at another point makes the agent continue instead. */
export const denyingHooks: ReadonlySet<string> = new Set(["UserPromptSubmit", "PreToolUse"]);

export function hookPlace(event: string): { readonly hook_id: string; readonly point: HookPoint } | null {
	const point = hookPoints[event];
	return point === undefined ? null : { hook_id: event, point };
}

/** How a hook of the session ended. */
export function toHookEvents(
	place: { readonly hook_id: string; readonly point: HookPoint },
	duration: number,
	verdict: SessionHookVerdict,
): readonly MeerkatEvent[] {
	const completed = { type: "hook_completed", ...place, duration_ms: duration } as const;
	switch (verdict.kind) {
		case "completed":
			return [completed];
		case "denied":
			return [completed, { type: "hook_denied", ...place, ...verdict.denial }];
		case "failed":
			return [{ type: "hook_failed", ...place, error: faultText(verdict.fault), reason: verdict.fault }];
	}
}
