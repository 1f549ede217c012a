import type { Clock } from "../../base/clock.ts";

/** Timeout of a check and lifetime of its cached answer, in milliseconds. Cached because anyone may ask. */
export const readinessTime = 1000;

/** Concurrent callers share one call of `check`; while it hangs, no other starts. */
export function createReadiness(check: () => Promise<unknown>, clock: Clock): () => Promise<boolean> {
	let running: Promise<boolean> | null = null;
	let last: { readonly isReady: boolean; readonly at: number } | null = null;
	const begin = (): Promise<boolean> => {
		const checking = check().then(
			() => true,
			() => false,
		);
		running = checking.then((isReady) => {
			running = null;
			last = { isReady, at: clock.monotonic() };
			return isReady;
		});
		return running;
	};
	return async () => {
		if (last !== null && running === null && clock.monotonic() - last.at < readinessTime) return last.isReady;
		const checking = running ?? begin();
		return await new Promise<boolean>((resolve) => {
			const withdraw = clock.after(readinessTime, () => resolve(false), true);
			void checking.then((isReady) => {
				withdraw();
				resolve(isReady);
			});
		});
	};
}
