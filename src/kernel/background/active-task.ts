import type { StoredTask, TaskRuntime } from "../../ports/store/stored-tasks.ts";

export interface ActiveTask {
	readonly stored: StoredTask;
	readonly canOutlive: boolean;
	/** Resolves with the final state once that is persisted; with null when this process stops following the task. */
	readonly ended: Promise<TaskRuntime | null>;
	stop(reason: string): Promise<void>;
	/** The session is closing: ends the task now if an earlier `stop` has not ended it yet. */
	abortPending(): Promise<void>;
	leave(): void;
}
