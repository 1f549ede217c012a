// The states of a background task, from its creation to its end.

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

/** Whether a task of this status has ended. */
export function isFinal(status: TaskStatus): boolean {
	return finalStatuses.includes(status);
}
