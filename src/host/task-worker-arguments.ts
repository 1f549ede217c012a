export const taskWorkerCommand = "__background-task-worker";

/** Intervals and the grace period in milliseconds. */
export interface TaskWorkerFlags {
	readonly taskDirectory: string;
	readonly heartbeatInterval: number;
	readonly controlPollInterval: number;
	readonly killGracePeriod: number;
	/** Whether the command continues after the process that started the worker exits. */
	readonly keep: boolean;
	readonly contain: "auto" | "off";
}

export function toTaskWorkerArguments(flags: TaskWorkerFlags): string[] {
	return [
		taskWorkerCommand,
		...["--task-dir", flags.taskDirectory],
		...["--heartbeat-interval-ms", String(flags.heartbeatInterval)],
		...["--control-poll-interval-ms", String(flags.controlPollInterval)],
		...["--kill-grace-period-ms", String(flags.killGracePeriod)],
		...(flags.keep ? ["--keep"] : []),
		...(flags.contain === "auto" ? ["--contain"] : []),
	];
}
