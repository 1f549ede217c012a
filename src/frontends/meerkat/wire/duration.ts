const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const whole = /^\s*(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$/;

/** The milliseconds of a duration such as `500ms` or `1h 30m`; null when it is invalid or zero. */
export function toMilliseconds(text: string): number | null {
	if (!whole.test(text)) return null;
	const amounts = [...text.matchAll(/([\d.]+)\s*([a-z]+)/g)];
	const sum = amounts.reduce((total, [, amount, unit]) => total + Number(amount) * (units[unit ?? ""] ?? 0), 0);
	return sum >= 1 && Number.isFinite(sum) ? sum : null;
}
