import type { Clock } from "../../base/clock.ts";
import type { QuestionOperations } from "../tools/operations.ts";

export interface Asker {
	readonly questions: QuestionOperations;
	readonly toolCallId: string;
}

export interface RunningCall {
	readonly asker: Asker;
	/** Aborts with the caller, or at the deadline. */
	readonly signal: AbortSignal;
	isLate(): boolean;
	/** The server's last progress report; empty before it. */
	progress: string;
	/** Stops the clock during `work`, because a user may take any time to answer. */
	untimed<T>(work: () => Promise<T>): Promise<T>;
	end(): void;
}

export function startCall(asker: Asker, timeout: number, clock: Clock, outer: AbortSignal): RunningCall {
	const controller = new AbortController();
	let left = timeout;
	let since = 0;
	let late = false;
	let stops = 0;
	let withdraw = () => {};
	const abort = () => controller.abort("the call was cancelled");
	const run = () => {
		since = clock.monotonic();
		withdraw = clock.after(left, () => {
			late = true;
			controller.abort("the call took too long");
		});
	};
	outer.addEventListener("abort", abort, { once: true });
	if (outer.aborted) abort();
	run();
	return {
		asker,
		signal: controller.signal,
		isLate: () => late,
		progress: "",
		async untimed(work) {
			stops += 1;
			if (stops === 1) {
				withdraw();
				left = Math.max(0, left - (clock.monotonic() - since));
			}
			try {
				return await work();
			} finally {
				stops -= 1;
				if (stops === 0 && !controller.signal.aborted) run();
			}
		},
		end() {
			withdraw();
			withdraw = () => {};
			// Remaining untimed work must not restart the clock.
			stops += 1;
			outer.removeEventListener("abort", abort);
		},
	};
}
