import type { Where } from "../clients/emitter.ts";
import type { RunningTurn } from "./main-turn.ts";

export class CurrentTurn {
	readonly #allRunning: Set<object>;
	#running: RunningTurn | null = null;

	/** `allRunning` has those of all sessions while a turn runs. */
	constructor(allRunning: Set<object>) {
		this.#allRunning = allRunning;
	}

	get running(): RunningTurn | null {
		return this.#running;
	}

	set running(turn: RunningTurn | null) {
		this.#running = turn;
		if (turn === null) this.#allRunning.delete(this);
		else this.#allRunning.add(this);
	}

	get id(): string | null {
		return this.running?.id ?? null;
	}

	get signal(): AbortSignal | null {
		return this.running?.controller.signal ?? null;
	}

	get place(): Where {
		return { turnId: this.id, agentPath: [] };
	}
}
