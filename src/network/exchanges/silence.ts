// Detects when a server is silent for too long while data are awaited.
import type { Clock } from "../../base/clock.ts";

export interface SilenceWatch {
	/** Data are awaited from now on. */
	begin(): void;
	/** Data have arrived, or nobody waits any more. */
	end(): void;
	close(): void;
}

const noWatch: SilenceWatch = { begin: () => {}, end: () => {}, close: () => {} };

/**
 * Calls back once when a wait takes longer; 0 for never. One timer serves many short waits, because setting one costs
 * more than they do.
 */
export function createSilenceWatch(clock: Clock, milliseconds: number, onSilence: () => void): SilenceWatch {
	if (milliseconds === 0) return noWatch;
	let since: number | null = null;
	let withdraw: (() => void) | null = null;
	const check = () => {
		withdraw = null;
		if (since === null) return;
		const left = since + milliseconds - clock.monotonic();
		if (left > 0) withdraw = clock.after(left, check);
		else onSilence();
	};
	return {
		begin() {
			since = clock.monotonic();
			withdraw ??= clock.after(milliseconds, check);
		},
		end() {
			since = null;
		},
		close() {
			since = null;
			withdraw?.();
			withdraw = null;
		},
	};
}
