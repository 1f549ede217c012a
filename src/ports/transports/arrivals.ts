import type { Pace } from "../../base/pace.ts";
import type { Line } from "../../base/text/lines.ts";

export interface Arrivals {
	/** Queues the lines. Delivers them immediately while that takes little time. */
	add(lines: readonly Line[]): void;
	isWaiting(): boolean;
	/** Calls `onEnd` after the last line. Only the first call has an effect. */
	end(): void;
	drop(): void;
}

/** `onIdle` is called when the queue becomes empty. */
export function createArrivals(
	pace: Pace,
	handlers: { onLine(line: Line): void; onIdle(): void; onEnd(): void },
): Arrivals {
	let lines: Line[] = [];
	let next = 0;
	let turn: Promise<void> | null = null;
	let state: "open" | "ending" | "ended" = "open";

	const finish = (): void => {
		if (state !== "ending" || turn !== null) return;
		state = "ended";
		handlers.onEnd();
	};
	const proceed = (): void => {
		for (let line = lines[next]; line !== undefined; line = lines[next]) {
			const rest = pace.rest();
			if (rest !== undefined) {
				turn = rest.then(goOn);
				return;
			}
			next += 1;
			handlers.onLine(line);
		}
		lines = [];
		next = 0;
	};
	const goOn = (): void => {
		turn = null;
		proceed();
		if (turn === null) handlers.onIdle();
		finish();
	};

	return {
		add(more) {
			lines = next === lines.length ? [...more] : [...lines.slice(next), ...more];
			next = 0;
			if (turn === null) proceed();
		},
		isWaiting: () => turn !== null,
		end() {
			if (state === "open") state = "ending";
			finish();
		},
		drop() {
			lines = [];
			next = 0;
		},
	};
}
