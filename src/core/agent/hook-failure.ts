import type { TurnError } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";

/** Whether a session hook failed or blocked the run. */
export function isHookFailure(thrown: unknown): thrown is KernelError {
	return thrown instanceof KernelError && thrown.code === "hook-failed";
}

/** Converts a hook failure to a turn error; rethrows anything else. */
export function toHookFailure(thrown: unknown): TurnError {
	if (!isHookFailure(thrown)) throw thrown;
	const { code, message, data } = thrown;
	return { code, message, data };
}
