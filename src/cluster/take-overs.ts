// Takes over sessions whose process died during a turn.
import type { Clock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Registry } from "./registry.ts";
import type { WorkerSessions } from "./worker-sessions.ts";

/** Sessions taken over per run, in parallel: the database answers many as fast as one. */
const limit = 40;
const atOnce = 8;
/** Milliseconds until a failed takeover is retried, initially and at most. */
const firstPause = 1_000;
const longestPause = 30_000;

export interface TakeOverOptions {
	readonly registry: Registry;
	readonly tags: readonly string[];
	readonly clock: Clock;
	readonly log: Log;
}

export class TakeOvers {
	count = 0;
	readonly #options: TakeOverOptions;
	readonly #sessions: WorkerSessions;
	/** Sessions waiting after a failure. */
	readonly #pausing = new Set<string>();
	readonly #pauses = new Map<string, number>();

	constructor(options: TakeOverOptions, sessions: WorkerSessions) {
		this.#options = options;
		this.#sessions = sessions;
	}

	async run(signal: AbortSignal): Promise<void> {
		const { registry, tags } = this.#options;
		const ids = await registry.interrupted(tags, limit + this.#pausing.size);
		const waiting = ids.filter((id) => !this.#pausing.has(id));
		const takeNext = async (): Promise<void> => {
			for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) await this.#take(id);
		};
		await Promise.all(Array.from({ length: atOnce }, takeNext));
		// Another worker has taken over sessions that are no longer interrupted.
		for (const id of this.#pauses.keys()) if (!this.#pausing.has(id) && !ids.includes(id)) this.#pauses.delete(id);
	}

	async #take(id: string): Promise<void> {
		const { clock, log } = this.#options;
		try {
			// Loading it ends the turn.
			const { release } = await this.#sessions.acquire(id, { archived: true });
			release();
			this.#pauses.delete(id);
			this.count += 1;
			log.info("A session was taken over in the middle of a turn.", { session: id });
		} catch (thrown) {
			// Another worker was faster, the database failed, or it cannot be opened here.
			const pause = this.#pauses.get(id) ?? firstPause;
			this.#pausing.add(id);
			this.#pauses.set(id, Math.min(2 * pause, longestPause));
			clock.after(pause, () => this.#pausing.delete(id), true);
			log.info("A session was not taken over.", { session: id, cause: errorText(thrown) });
		}
	}
}
