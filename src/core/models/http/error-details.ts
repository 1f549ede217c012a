import { isRecord } from "../../../base/json.ts";
import { isPlausible } from "./retry-after.ts";

export interface ErrorDetails {
	readonly marks: readonly string[];
	/** Milliseconds; null if not given. */
	readonly retryAfter: number | null;
}

export function readErrorDetails(details: unknown): ErrorDetails {
	const records = Array.isArray(details) ? details.filter(isRecord) : [];
	const marks = records.flatMap(({ reason, violations }) => [
		reason,
		...(Array.isArray(violations) ? violations.filter(isRecord).map(({ quotaId }) => quotaId) : []),
	]);
	const waits = records.map(({ retryDelay }) => toMilliseconds(retryDelay)).filter((wait) => wait !== null);
	return { marks: marks.filter((mark) => typeof mark === "string"), retryAfter: waits[0] ?? null };
}

function toMilliseconds(duration: unknown): number | null {
	const seconds = typeof duration === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(duration)?.[1] : undefined;
	const wait = Math.ceil(Number(seconds) * 1000);
	return isPlausible(wait) ? wait : null;
}
