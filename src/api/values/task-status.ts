// The states of a background task, in order.

export type TaskKind = "bash" | "agent";

export const taskStatuses = [
	"created",
	"starting",
	"running",
	"awaiting_approval",
	"completed",
	"failed",
	"killed",
	"lost",
] as const;
export type TaskStatus = (typeof taskStatuses)[number];

const finalStatuses: readonly TaskStatus[] = ["completed", "failed", "killed", "lost"];

export function isFinal(status: TaskStatus): boolean {
	return finalStatuses.includes(status);
}

export interface TaskView {
	readonly id: string;
	readonly kind: TaskKind;
	readonly status: TaskStatus;
	readonly description: string;
	/** Seconds; null for none. */
	readonly timeout: number | null;
	/** Null for agents. */
	readonly command: string | null;
	/** Null for commands. */
	readonly agent: { readonly id: string; readonly type: string } | null;
	readonly exitCode: number | null;
	/** Whether it was stopped on request. */
	readonly interrupted: boolean;
	readonly timedOut: boolean;
	/** The failure reason; for a task that waits for approval, what it wants to do. */
	readonly reason: string | null;
	readonly outputPath: string | null;
}
