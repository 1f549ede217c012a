// Types of stored tasks and notifications, on disk (task-files.ts, notification-files.ts) and in memory. Times are milliseconds.
import type { TaskKind, TaskStatus } from "../../api/values/task-status.ts";
import type { ProcessOrigin } from "../files/living-process.ts";

/** The specification of a task; never changes. */
export interface TaskSpec {
	readonly id: string;
	readonly kind: TaskKind;
	readonly sessionId: string;
	readonly description: string;
	readonly toolCallId: string;
	readonly createdAt: number;
	/** Seconds; null for none. */
	readonly timeout: number | null;
	readonly command: { readonly text: string; readonly shellPath: string; readonly workDir: string } | null;
	readonly agent: {
		readonly agentId: string;
		readonly subagentType: string;
		readonly prompt: string;
		readonly modelOverride: string | null;
	} | null;
}

export interface TaskRuntime {
	readonly status: TaskStatus;
	readonly workerPid: number | null;
	/** Where that process id is valid; null in data from earlier versions. */
	readonly workerOrigin: ProcessOrigin | null;
	/** The command's process and its group. */
	readonly childPid: number | null;
	readonly startedAt: number | null;
	readonly heartbeatAt: number | null;
	readonly updatedAt: number | null;
	readonly finishedAt: number | null;
	readonly exitCode: number | null;
	readonly interrupted: boolean;
	readonly timedOut: boolean;
	/** Why it failed; for a task awaiting approval, the requested action. */
	readonly failureReason: string | null;
}

export const newRuntime: TaskRuntime = {
	status: "created",
	workerPid: null,
	workerOrigin: null,
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

/** For a task with unreadable state: its outcome will never be known. */
export const unreadableRuntime: TaskRuntime = {
	...newRuntime,
	status: "lost",
	failureReason: "The stored state of the task cannot be read.",
};

export interface TaskControl {
	readonly killRequestedAt: number | null;
	readonly killReason: string | null;
	/** Whether to kill without a grace period. */
	readonly force: boolean;
}

export const noControl: TaskControl = { killRequestedAt: null, killReason: null, force: false };

/** One task. Mutable fields are read each time, because another process may write them. */
export interface StoredTask {
	readonly spec: TaskSpec;
	/** Null for sessions in memory. */
	readonly directory: string | null;
	runtime(): Promise<TaskRuntime>;
	setRuntime(runtime: TaskRuntime): Promise<void>;
	control(): Promise<TaskControl>;
	setControl(control: TaskControl): Promise<void>;
	/** Records that the output was read up to this many bytes. */
	noteSeen(outputSize: number): Promise<void>;
	appendOutput(text: string): Promise<void>;
	/** The last bytes of the output, and its total size. */
	outputTail(limit: number): Promise<{ readonly bytes: Buffer; readonly size: number }>;
	remove(): Promise<void>;
}

export interface StoredTasks {
	any(): Promise<boolean>;
	create(spec: TaskSpec): Promise<StoredTask>;
	/** The readable ones, oldest first; skips and logs damaged ones. */
	list(): Promise<readonly StoredTask[]>;
	find(id: string): Promise<StoredTask | null>;
}

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
	/** Only one notification per key is stored; null allows repeats. */
	readonly dedupeKey: string | null;
}

export interface SinkDelivery {
	readonly status: "pending" | "claimed" | "acked";
	readonly claimedAt: number | null;
	readonly ackedAt: number | null;
}

export type Delivery = Readonly<Record<string, SinkDelivery>>;

export const pendingDelivery: SinkDelivery = { status: "pending", claimedAt: null, ackedAt: null };

export interface StoredNotification {
	readonly notification: Notification;
	readonly delivery: Delivery;
}

export interface StoredNotifications {
	any(): Promise<boolean>;
	/** The readable ones, oldest first; skips and logs damaged ones. */
	list(): Promise<readonly StoredNotification[]>;
	add(persisted: StoredNotification): Promise<void>;
	setDelivery(id: string, delivery: Delivery): Promise<void>;
}
