// Retry notices for people.
import type { EventBodyOf } from "./event.ts";

/** Such as `Retrying in 2 s (attempt 2 of 6)`. `wait` is in seconds. */
export function retryTitle(wait: number, attempt: number, maxAttempts: number): string {
	return `Retrying in ${Number(wait.toFixed(1))} s (attempt ${attempt} of ${maxAttempts})`;
}

/** Why the previous attempt failed. Records of earlier versions have only its class and status. */
export function retryCause({ reason, error_type, status_code }: EventBodyOf<"step.retrying">): string {
	return reason ?? (status_code === null ? error_type : `HTTP ${status_code}`);
}

export function retryText(body: EventBodyOf<"step.retrying">): string {
	return `${retryTitle(body.wait_s, body.next_attempt, body.max_attempts)}: ${retryCause(body)}`;
}
