// Random choices from a seed: the same seed gives the same lines on every machine.

export interface Random {
	/** A whole number from 0 up to, not including, `limit`. */
	below(limit: number): number;
	pick<T>(values: readonly [T, ...T[]]): T;
	/** True in `percent` of the cases. */
	chance(percent: number): boolean;
}

export function createRandom(seed: number): Random {
	let state = (seed ^ 0x9e3779b9) >>> 0;
	// Mulberry32: small, quick and good enough to choose test cases with.
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
	const below = (limit: number): number => Math.floor(next() * limit);
	return {
		below,
		pick: (values) => values[below(values.length)] ?? values[0],
		chance: (percent) => next() * 100 < percent,
	};
}
