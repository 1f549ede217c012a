// The failure of a hook that its session was created with.

import type { TurnError } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";

/** Whether a hook of the session failed, or denied its run. */
export function isHookFailure(thrown: unknown): thrown is KernelError {
	return thrown instanceof KernelError && thrown.code === "hook-failed";
}

/** What such a failure is to the turn; anything else that was thrown is thrown again. */
export function toHookFailure(thrown: unknown): TurnError {
	if (!isHookFailure(thrown)) throw thrown;
	const { code, message, data } = thrown;
	return { code, message, data };
}
