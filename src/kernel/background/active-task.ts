// A background task that is not over, whoever runs it.
import type { StoredTask, TaskRuntime } from "../../store/stored-tasks.ts";

export interface ActiveTask {
	readonly stored: StoredTask;
	/** Whether it can go on without this process. */
	readonly canOutlive: boolean;
	/** Resolves with how it ended, which is kept by then; null when it is not followed any more. */
	readonly ended: Promise<TaskRuntime | null>;
	/** Asks that it be ended. */
	stop(reason: string): Promise<void>;
	/** It was asked to end and there is no more time. */
	abortPending(): Promise<void>;
	/** Follows it no more. */
	leave(): void;
}
