import { KernelError } from "../../../base/errors.ts";

export const maximumQueue = 64;

interface Line {
	length: number;
	last: Promise<void>;
}

export class TurnQueue {
	readonly #lines = new Map<string, Line>();

	/** Runs the turn now or after earlier ones. Fails `overloaded` when too many wait. */
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

	/** Makes later turns of the session wait for this one. */
	add<T>(sessionId: string, turn: Promise<T>): Promise<T> {
		const line = this.#lines.get(sessionId) ?? { length: 0, last: Promise.resolve() };
		// An unqueued turn may be refused while earlier ones continue.
		const last = Promise.allSettled([line.last, turn]).then(() => {});
		line.last = last;
		this.#lines.set(sessionId, line);
		void last.then(() => {
			if (line.last === last) this.#lines.delete(sessionId);
		});
		return turn;
	}
}
