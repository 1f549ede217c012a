import path from "node:path";
import type { TaskView } from "../../api/values/task-status.ts";
import { reminderText } from "../../core/agent/marked-text.ts";
import { outputName } from "../../ports/store/disk/background/task-files.ts";
import type { StoredTask, TaskRuntime } from "../../ports/store/stored-tasks.ts";

export function toView({ spec, directory }: StoredTask, runtime: TaskRuntime): TaskView {
	return {
		id: spec.id,
		kind: spec.kind,
		status: runtime.status,
		description: spec.description,
		timeout: spec.timeout,
		command: spec.command?.text ?? null,
		agent: spec.agent === null ? null : { id: spec.agent.agentId, type: spec.agent.subagentType },
		exitCode: runtime.exitCode,
		interrupted: runtime.interrupted,
		timedOut: runtime.timedOut,
		reason: runtime.failureReason,
		outputPath: directory === null ? null : path.join(directory, outputName),
	};
}

export async function toViews(tasks: readonly StoredTask[]): Promise<readonly TaskView[]> {
	return await Promise.all(tasks.map(async (task) => toView(task, await task.runtime())));
}

/** Notes about running tasks for the model after a compaction. Without the task ids it could not query them. */
export function toCompactionNotes(active: readonly TaskView[]): readonly string[] {
	if (active.length === 0) return [];
	const lines = active.map(({ id, status, description }) => `- ${id} (${status}): ${description}`);
	return [reminderText(`Background tasks that you started earlier and that are not over:\n${lines.join("\n")}`)];
}
