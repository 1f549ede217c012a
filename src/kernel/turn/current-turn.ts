// The running turn of a session as its parts see it: its id, the origin of its events, and its abort signal.
import type { Where } from "../clients/emitter.ts";
import type { RunningTurn } from "./main-turn.ts";

export class CurrentTurn {
	/** Null while idle. */
	running: RunningTurn | null = null;

	get id(): string | null {
		return this.running?.id ?? null;
	}

	/** Aborts when the turn is cancelled or runs out of time. Null while idle. */
	get signal(): AbortSignal | null {
		return this.running?.controller.signal ?? null;
	}

	/** The origin of main agent events. */
	get place(): Where {
		return { turnId: this.id, agentPath: [] };
	}
}
