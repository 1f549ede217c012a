import type { Clock } from "../../../base/clock.ts";

export interface SilenceWatch {
	begin(milliseconds: number): void;
	end(): void;
	close(): void;
}

/** Calls back once when a wait exceeds its limit. One timer serves many short waits. */
export function createSilenceWatch(clock: Clock, onSilence: (milliseconds: number) => void): SilenceWatch {
	let wait: { readonly due: number; readonly milliseconds: number } | null = null;
	let timer: { readonly due: number; withdraw(): void } | null = null;
	const set = (due: number) => {
		timer?.withdraw();
		timer = { due, withdraw: clock.after(due - clock.monotonic(), check) };
	};
	const check = () => {
		timer = null;
		if (wait === null) return;
		if (wait.due > clock.monotonic()) set(wait.due);
		else onSilence(wait.milliseconds);
	};
	return {
		begin(milliseconds) {
			wait = { due: clock.monotonic() + milliseconds, milliseconds };
			if (timer === null || timer.due > wait.due) set(wait.due);
		},
		end() {
			wait = null;
		},
		close() {
			wait = null;
			timer?.withdraw();
			timer = null;
		},
	};
}
