// Why runs fail, in the words of the contract.
import { isRecord } from "../../../base/json.ts";
import type { TurnError } from "../../../events/event.ts";
import type { ErrorClass, TerminalCause } from "../wire/wire-events.ts";

export interface Failure {
	readonly errorClass: ErrorClass;
	/** Null for a run that a person cancelled. */
	readonly cause: TerminalCause | null;
}

const failures: { readonly [C in TurnError["code"]]: Failure } = {
	"provider-failed": { errorClass: "llm", cause: "llm_failure" },
	"login-expired": { errorClass: "llm", cause: "runtime_apply_failure" },
	"model-not-set": { errorClass: "llm", cause: "runtime_apply_failure" },
	"capability-missing": { errorClass: "llm", cause: "runtime_apply_failure" },
	"budget-exhausted": { errorClass: "budget", cause: "budget_exhausted" },
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

/** `hasRetried` says that the call which failed was one of several attempts. */
export function toFailure({ code, data }: TurnError, hasRetried: boolean): Failure {
	const failure = failures[code];
	if (code === "provider-failed" && hasRetried) return { ...failure, cause: "retry_exhausted" };
	if (code === "budget-exhausted" && isRecord(data) && data["budget"] === "time")
		return { ...failure, cause: "time_budget_exceeded" };
	return failure;
}

/** How the run ended, next to why. */
export function toOutcome(cause: TerminalCause): "failed" | "time_budget_exceeded" | "budget_exhausted" {
	return cause === "time_budget_exceeded" || cause === "budget_exhausted" ? cause : "failed";
}
