// Turns of one session that come while another runs wait for its end, in the order in which they came.
import { KernelError } from "../../../base/errors.ts";

/** Turns of one session that may wait. */
export const maximumQueue = 64;

interface Line {
	/** Turns that wait. */
	length: number;
	/** Resolves when the last one has ended. */
	last: Promise<void>;
}

export class TurnQueue {
	readonly #lines = new Map<string, Line>();

	/** Runs the turn at once, or after those before it. Fails with `overloaded` when too many wait. */
	async run<T>(sessionId: string, turn: () => Promise<T>): Promise<T> {
		const line = this.#lines.get(sessionId);
		if (line === undefined) return await this.add(sessionId, turn());
		if (line.length >= maximumQueue) {
			throw new KernelError(
				"overloaded",
				`${maximumQueue} turns wait for session ${sessionId} already; wait for answers before sending more.`,
				{ data: { limit: maximumQueue } },
			);
		}
		line.length += 1;
		return await this.add(
			sessionId,
			line.last.then(() => {
				line.length -= 1;
				return turn();
			}),
		);
	}

	/** Lets later turns of the session wait for this one, which was begun already or waits. */
	add<T>(sessionId: string, turn: Promise<T>): Promise<T> {
		const line = this.#lines.get(sessionId) ?? { length: 0, last: Promise.resolve() };
		// One that was not queued may be refused while those before it go on.
		const last = Promise.allSettled([line.last, turn]).then(() => {});
		line.last = last;
		this.#lines.set(sessionId, line);
		void last.then(() => {
			if (line.last === last) this.#lines.delete(sessionId);
		});
		return turn;
	}
}
