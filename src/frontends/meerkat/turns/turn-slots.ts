// Contract turns wait, in order of arrival, while too many run in the process.

import type { SessionsApi } from "../../../api/kernel.ts";
import { createDeferred, type Deferred } from "../../../base/deferred.ts";
import { KernelError } from "../../../base/errors.ts";
import { TurnQueue } from "./turn-queue.ts";

/** Maximum turns per process that wait because too many run. */
export const maximumWaiting = 64;

interface WaitingTurn {
	readonly place: number;
	readonly room: Deferred<void>;
}

export class TurnSlots {
	#running = 0;
	readonly #waiting: WaitingTurn[] = [];
	#arrivals = 0;

	/** Begins a turn now or when there is room. Fails `overloaded` when too many wait or none could make room. */
	async begin<T extends { readonly ended: Promise<unknown> }>(begin: () => Promise<T>): Promise<T> {
		this.#arrivals += 1;
		const place = this.#arrivals;
		let hasWaited = this.#waiting.length > 0;
		if (hasWaited) await this.#wait(place, false);
		for (;;) {
			const before = this.#running;
			try {
				const turn = await begin();
				this.#follow(turn.ended);
				return turn;
			} catch (thrown) {
				// Without a turn that ran meanwhile there is nothing to wait for.
				if (!(thrown instanceof NoRoomError) || before + this.#running === 0) {
					this.#wakeNext();
					throw thrown;
				}
			}
			if (this.#running === 0) continue;
			await this.#wait(place, hasWaited);
			hasWaited = true;
		}
	}

	async #wait(place: number, hasWaited: boolean): Promise<void> {
		if (!hasWaited && this.#waiting.length >= maximumWaiting) {
			throw new KernelError(
				"overloaded",
				`Too many turns run at once, and ${maximumWaiting} wait for their end already; wait for answers before sending more.`,
				{ data: { limit: maximumWaiting } },
			);
		}
		const room = createDeferred<void>();
		const next = this.#waiting.findIndex((other) => other.place > place);
		this.#waiting.splice(next === -1 ? this.#waiting.length : next, 0, { place, room });
		await room.promise;
	}

	#follow(ended: Promise<unknown>): void {
		this.#running += 1;
		const over = () => {
			this.#running -= 1;
			this.#wakeNext();
		};
		ended.then(over, over);
	}

	#wakeNext(): void {
		this.#waiting.shift()?.room.resolve();
	}
}

/** Too many turns run; not for a session that could not be loaded. */
class NoRoomError extends KernelError {}

export async function startInRoom<T>(start: () => Promise<T>): Promise<T> {
	try {
		return await start();
	} catch (thrown) {
		if (!(thrown instanceof KernelError) || thrown.code !== "overloaded") throw thrown;
		throw new NoRoomError(thrown.code, thrown.message, { data: thrown.data, cause: thrown });
	}
}

export interface WaitingTurns {
	readonly queue: TurnQueue;
	readonly slots: TurnSlots;
}

const known = new WeakMap<SessionsApi, WaitingTurns>();

export function waitingTurnsOf(sessions: SessionsApi): WaitingTurns {
	const found = known.get(sessions) ?? { queue: new TurnQueue(), slots: new TurnSlots() };
	known.set(sessions, found);
	return found;
}
