import type { TurnError } from "../../../api/values/event.ts";
import type { HookErrorData, HookFault } from "../../../api/values/hooks/session-hook.ts";
import { isRecord } from "../../../base/json.ts";
import type { ErrorClass, MeerkatEvent, TerminalCause } from "../wire/wire-events.ts";

export interface Failure {
	readonly errorClass: ErrorClass;
	/** Null if a person cancelled the run. */
	readonly cause: TerminalCause | null;
}

const failures: { readonly [C in TurnError["code"]]: Failure } = {
	"provider-failed": { errorClass: "llm", cause: "llm_failure" },
	"login-expired": { errorClass: "llm", cause: "runtime_apply_failure" },
	"model-not-set": { errorClass: "llm", cause: "runtime_apply_failure" },
	"capability-missing": { errorClass: "llm", cause: "runtime_apply_failure" },
	"budget-exhausted": { errorClass: "budget", cause: "budget_exhausted" },
	"hook-failed": { errorClass: "hook", cause: "hook_failure" },
	busy: { errorClass: "internal", cause: "fatal_failure" },
	"no-turn": { errorClass: "internal", cause: "fatal_failure" },
	unsupported: { errorClass: "internal", cause: "fatal_failure" },
	"invalid-input": { errorClass: "internal", cause: "fatal_failure" },
	"session-not-found": { errorClass: "internal", cause: "fatal_failure" },
	"storage-failed": { errorClass: "internal", cause: "fatal_failure" },
	overloaded: { errorClass: "internal", cause: "fatal_failure" },
	closed: { errorClass: "internal", cause: "fatal_failure" },
	internal: { errorClass: "internal", cause: "fatal_failure" },
};

export const cancelled: Failure = { errorClass: "cancelled", cause: null };
export const deniedByHook: Failure = { errorClass: "hook", cause: "hook_failure" };

/** `hasRetried`: the failed call was one of several attempts. */
export function toFailure({ code, data }: TurnError, hasRetried: boolean): Failure {
	const failure = failures[code];
	if (code === "provider-failed" && hasRetried) return { ...failure, cause: "retry_exhausted" };
	if (code === "budget-exhausted" && isRecord(data) && data["budget"] === "time")
		return { ...failure, cause: "time_budget_exceeded" };
	return failure;
}

export function toOutcome(cause: TerminalCause): "failed" | "time_budget_exceeded" | "budget_exhausted" {
	return cause === "time_budget_exceeded" || cause === "budget_exhausted" ? cause : "failed";
}

export function faultText(fault: HookFault): string {
	switch (fault.reason_code) {
		case "timeout":
			return `it took longer than ${fault.timeout_ms} ms`;
		case "execution_failed":
			return fault.message;
		case "observe_only_violation":
			return "it may only observe, and denied something";
	}
}

type Report = Extract<MeerkatEvent, { type: "run_failed" }>["error_report"];

/** What a hook did to the run that it failed. */
export function toHookReason({ hook_id, point, fault, denial }: HookErrorData): NonNullable<Report["reason"]> | null {
	if (denial !== undefined) return { reason_type: "hook_denied", hook_id, point, ...denial };
	if (fault === undefined) return null;
	return fault.reason_code === "timeout"
		? { reason_type: "hook_timeout", hook_id, timeout_ms: fault.timeout_ms }
		: { reason_type: "hook_execution_failed", hook_id, reason: faultText(fault) };
}
