import type { TurnError } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";

export function isHookFailure(thrown: unknown): thrown is KernelError {
	return thrown instanceof KernelError && thrown.code === "hook-failed";
}

export function toHookFailure(thrown: unknown): TurnError {
	if (!isHookFailure(thrown)) throw thrown;
	const { code, message, data } = thrown;
	return { code, message, data };
}
