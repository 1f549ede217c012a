// Turns of the contract wait when too many run at once, in the order in which they came, whatever session they are for. What
// all connections of a process share of waiting turns.
import { createDeferred, type Deferred } from "../../../base/deferred.ts";
import { KernelError } from "../../../base/errors.ts";
import type { SessionsApi } from "../../../kernel/api.ts";
import { TurnQueue } from "./turn-queue.ts";

/** Turns of a process that may wait because too many run. */
export const maximumWaiting = 64;

interface WaitingTurn {
	/** When it came, counted. */
	readonly place: number;
	readonly room: Deferred<void>;
}

export class TurnSlots {
	/** Turns that this protocol has begun and that go on. */
	#running = 0;
	/** In the order in which they came. */
	readonly #waiting: WaitingTurn[] = [];
	#arrivals = 0;

	/**
	 * Begins a turn, at once or when there is room for it. Fails with what `begin` throws; `overloaded` also when too many
	 * wait, and when no turn of this protocol runs whose end could make room.
	 */
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
				// Without one that ran meanwhile there is none to wait for.
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

/** Too many turns run: that of a session which could not be loaded is no such error. */
class NoRoomError extends KernelError {}

/** Starts a turn of a loaded session; `TurnSlots` knows its errors by this. */
export async function startInRoom<T>(start: () => Promise<T>): Promise<T> {
	try {
		return await start();
	} catch (thrown) {
		if (!(thrown instanceof KernelError) || thrown.code !== "overloaded") throw thrown;
		throw new NoRoomError(thrown.code, thrown.message, { data: thrown.data, cause: thrown });
	}
}

/** What waits in a process. */
export interface WaitingTurns {
	/** By session. */
	readonly queue: TurnQueue;
	readonly slots: TurnSlots;
}

const known = new WeakMap<SessionsApi, WaitingTurns>();

/** The same for all connections to these sessions. */
export function waitingTurnsOf(sessions: SessionsApi): WaitingTurns {
	const found = known.get(sessions) ?? { queue: new TurnQueue(), slots: new TurnSlots() };
	known.set(sessions, found);
	return found;
}
