import type { Where } from "../clients/emitter.ts";
import type { RunningTurn } from "./main-turn.ts";

export class CurrentTurn {
	running: RunningTurn | null = null;

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
