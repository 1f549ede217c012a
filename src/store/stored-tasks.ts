// What a session keeps of its background work: tasks, and the notifications that tell of them. Types and little more;
// on disk they are task-files.ts and notification-files.ts, in memory memory-tasks.ts. Times are milliseconds.

import type { TaskKind, TaskStatus } from "../events/task-status.ts";

/** What a task is; settled when it is made. */
export interface TaskSpec {
	readonly id: string;
	readonly kind: TaskKind;
	readonly sessionId: string;
	readonly description: string;
	readonly toolCallId: string;
	readonly createdAt: number;
	/** Seconds; null for none. */
	readonly timeout: number | null;
	/** Null for agents. */
	readonly command: { readonly text: string; readonly shellPath: string; readonly workDir: string } | null;
	/** Null for commands. */
	readonly agent: {
		readonly agentId: string;
		readonly subagentType: string;
		readonly prompt: string;
		readonly modelOverride: string | null;
	} | null;
}

/** How a task is doing. */
export interface TaskRuntime {
	readonly status: TaskStatus;
	readonly workerPid: number | null;
	/** The command's process and its group. */
	readonly childPid: number | null;
	readonly startedAt: number | null;
	/** When its worker last gave a sign of life. */
	readonly heartbeatAt: number | null;
	readonly updatedAt: number | null;
	readonly finishedAt: number | null;
	readonly exitCode: number | null;
	/** Whether it was ended on request. */
	readonly interrupted: boolean;
	readonly timedOut: boolean;
	/** Why it failed; of a task that waits for an approval, what it wants to do. */
	readonly failureReason: string | null;
}

export const newRuntime: TaskRuntime = {
	status: "created",
	workerPid: null,
	childPid: null,
	startedAt: null,
	heartbeatAt: null,
	updatedAt: null,
	finishedAt: null,
	exitCode: null,
	interrupted: false,
	timedOut: false,
	failureReason: null,
};

/** Of a task whose state cannot be read: how it ended will never be known. */
export const unreadableRuntime: TaskRuntime = {
	...newRuntime,
	status: "lost",
	failureReason: "What was kept of how the task is doing cannot be read.",
};

/** What is asked of a task's worker. */
export interface TaskControl {
	readonly killRequestedAt: number | null;
	readonly killReason: string | null;
	/** Whether to kill without grace. */
	readonly force: boolean;
}

export const noControl: TaskControl = { killRequestedAt: null, killReason: null, force: false };

/** One task. What can change is read anew each time: another process may write it. */
export interface StoredTask {
	readonly spec: TaskSpec;
	/** Null for sessions in memory. */
	readonly directory: string | null;
	/** `unreadableRuntime` when it is damaged. */
	runtime(): Promise<TaskRuntime>;
	setRuntime(runtime: TaskRuntime): Promise<void>;
	control(): Promise<TaskControl>;
	setControl(control: TaskControl): Promise<void>;
	/** Notes that somebody looked at the output when it had this many bytes. */
	noteSeen(outputSize: number): Promise<void>;
	appendOutput(text: string): Promise<void>;
	/** The last bytes of the output, and how many it has in all. */
	outputTail(limit: number): Promise<{ readonly bytes: Buffer; readonly size: number }>;
	/** Forgets the task: nothing of it ever ran. */
	remove(): Promise<void>;
}

export interface StoredTasks {
	/** Whether there may be any; costs next to nothing. */
	any(): Promise<boolean>;
	create(spec: TaskSpec): Promise<StoredTask>;
	/** Those that can be read, oldest first; damaged ones are skipped and logged. */
	list(): Promise<readonly StoredTask[]>;
	/** The task of this id; null when there is none that can be read. */
	find(id: string): Promise<StoredTask | null>;
}

/** News for the person and the model. */
export interface Notification {
	readonly id: string;
	readonly category: string;
	readonly type: string;
	readonly sourceKind: string;
	readonly sourceId: string;
	readonly title: string;
	readonly body: string;
	readonly severity: string;
	readonly createdAt: number;
	readonly payload: Readonly<Record<string, unknown>>;
	readonly targets: readonly string[];
	/** Of notifications with the same key there is one; null for one that may come again. */
	readonly dedupeKey: string | null;
}

export interface SinkDelivery {
	readonly status: "pending" | "claimed" | "acked";
	readonly claimedAt: number | null;
	readonly ackedAt: number | null;
}

/** Where a notification has arrived, by sink. */
export type Delivery = Readonly<Record<string, SinkDelivery>>;

export const pendingDelivery: SinkDelivery = { status: "pending", claimedAt: null, ackedAt: null };

export interface StoredNotification {
	readonly notification: Notification;
	readonly delivery: Delivery;
}

export interface StoredNotifications {
	/** Whether there may be any; costs next to nothing. */
	any(): Promise<boolean>;
	/** Those that can be read, oldest first; damaged ones are skipped and logged. */
	list(): Promise<readonly StoredNotification[]>;
	/** Keeps a new one. */
	add(persisted: StoredNotification): Promise<void>;
	setDelivery(id: string, delivery: Delivery): Promise<void>;
}
