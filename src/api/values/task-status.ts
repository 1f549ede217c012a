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
