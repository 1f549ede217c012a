/** Milliseconds from `now`; null if missing, invalid, or zero. */
export function readRetryAfter(headers: Headers, now: number): number | null {
	const wait = toMilliseconds(headers.get("retry-after-ms"), 1) ?? toWait(headers.get("retry-after"), now);
	return wait !== null && isPlausible(wait) ? wait : null;
}

const longest = 365 * 24 * 3600 * 1000;

/** Whether a wait in milliseconds is plausible; a wait of years is a fault. */
export function isPlausible(wait: number): boolean {
	return wait > 0 && wait <= longest;
}

function toWait(value: string | null, now: number): number | null {
	const wait = toMilliseconds(value, 1000);
	if (wait !== null || value === null) return wait;
	// An HTTP date begins with the day's name; other formats that the date parser accepts are not valid here.
	const date = /^[a-z]{3,9},? /i.test(value.trim()) ? Date.parse(value) : Number.NaN;
	return Number.isNaN(date) ? null : date - now;
}

function toMilliseconds(value: string | null, unit: number): number | null {
	const wait = value !== null && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Math.ceil(Number(value) * unit) : null;
	return wait !== null && wait > longest ? null : wait;
}
