// The running turn of a session as its parts see it: its id, the origin of its events, and its abort signal.
import type { Where } from "../clients/emitter.ts";
import type { RunningTurn } from "./main-turn.ts";

export class CurrentTurn {
	/** Null while the session is idle. */
	running: RunningTurn | null = null;

	get id(): string | null {
		return this.running?.id ?? null;
	}

	/** Aborts when the turn is cancelled or its time is up; null while the session is idle. */
	get signal(): AbortSignal | null {
		return this.running?.controller.signal ?? null;
	}

	/** The origin of events of the session's own agent. */
	get place(): Where {
		return { turnId: this.id, agentPath: [] };
	}
}
