// Background tasks as tools see them, and what tools can do with them.
import path from "node:path";
import { reminderText } from "../agent/marked-text.ts";
import { isFinal } from "../events/task-status.ts";
import type { StoredTask, StoredTasks, TaskRuntime } from "../store/stored-tasks.ts";
import { outputName } from "../store/task-files.ts";
import type { TaskOperations, TaskView } from "../tools/operations.ts";
import type { BackgroundTasks } from "./background-tasks.ts";

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

/** The tasks as they are now. */
export async function toViews(tasks: readonly StoredTask[]): Promise<readonly TaskView[]> {
	return await Promise.all(tasks.map(async (task) => toView(task, await task.runtime())));
}

/** The views of those that are not over. */
export async function activeViews(background: BackgroundTasks): Promise<readonly TaskView[]> {
	const views = await toViews((await background.active()).map(({ stored }) => stored));
	return views.filter(({ status }) => !isFinal(status));
}

/** What the model is told of them behind a summary of its past: without their ids it could not ask for them. */
export function toCompactionNotes(active: readonly TaskView[]): readonly string[] {
	if (active.length === 0) return [];
	const lines = active.map(({ id, status, description }) => `- ${id} (${status}): ${description}`);
	return [reminderText(`Background tasks that you started earlier and that are not over:\n${lines.join("\n")}`)];
}

export function createTaskOperations(background: BackgroundTasks, stored: StoredTasks): TaskOperations {
	const find = async (id: string): Promise<TaskView | null> => {
		await background.find();
		const task = await stored.find(id);
		return task === null ? null : toView(task, await task.runtime());
	};
	return {
		find,
		startCommand: (request, toolCallId) => background.startCommand(request, toolCallId),
		list: async (activeOnly) => {
			const views = activeOnly ? await activeViews(background) : await toViews(await stored.list());
			return views.toReversed();
		},
		wait: (id, seconds, signal) => background.wait(id, seconds * 1000, signal),
		async output(id, limit) {
			const task = await stored.find(id);
			if (task === null) return null;
			const { bytes, size } = await task.outputTail(limit);
			await task.noteSeen(size);
			return { text: bytes.toString("utf8"), previewBytes: bytes.length, size };
		},
		async stop(id, reason) {
			await background.stop(id, reason);
			return await find(id);
		},
	};
}
