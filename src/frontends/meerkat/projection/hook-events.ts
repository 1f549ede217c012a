import type { SessionHookVerdict } from "../../../api/values/hooks/session-hook.ts";
import type { HookPoint, MeerkatEvent } from "../wire/wire-events.ts";
import { faultText } from "./failures.ts";

const hookPoints: Readonly<Record<string, HookPoint>> = {
	UserPromptSubmit: "run_started",
	Stop: "run_completed",
	StopFailure: "run_failed",
	PreToolUse: "pre_tool_execution",
	PostToolUse: "post_tool_execution",
	PostToolUseFailure: "post_tool_execution",
};

/** At other points, a blocking hook makes the agent continue instead. */
export const denyingHooks: ReadonlySet<string> = new Set(["UserPromptSubmit", "PreToolUse"]);

export function hookPlace(event: string): { readonly hook_id: string; readonly point: HookPoint } | null {
	const point = hookPoints[event];
	return point === undefined ? null : { hook_id: event, point };
}

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
