import type { UserInput } from "../../api/values/content.ts";
import { KernelError } from "../../base/errors.ts";
import type { SteerQueue } from "../../core/agent/dependencies.ts";

export interface OpenSteerQueue extends SteerQueue {
	/** False when the turn accepts no more input. Fails with `overloaded` when too many wait. */
	add(input: UserInput): boolean;
	withdraw(input: UserInput): void;
	closeIfEmpty(): boolean;
	close(): void;
}

/** Maximum queued inputs; each may be as long as a prompt. */
const maximumWaiting = 256;

export function createSteerQueue(): OpenSteerQueue {
	let waiting: UserInput[] = [];
	let isClosed = false;
	return {
		add(input) {
			if (isClosed) return false;
			if (waiting.length >= maximumWaiting) throw tooMany();
			waiting.push(input);
			return true;
		},
		withdraw(input) {
			waiting = waiting.filter((each) => each !== input);
		},
		isEmpty: () => waiting.length === 0,
		close() {
			isClosed = true;
		},
		take() {
			const taken = waiting;
			waiting = [];
			return taken;
		},
		closeIfEmpty() {
			isClosed = waiting.length === 0;
			return isClosed;
		},
	};
}

function tooMany(): KernelError {
	const text = `${maximumWaiting} inputs wait already for the turn to take them at its next step; add more then.`;
	return new KernelError("overloaded", text, { data: { limit: maximumWaiting } });
}
