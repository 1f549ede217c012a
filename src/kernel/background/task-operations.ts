import { isFinal, type TaskView } from "../../api/values/task-status.ts";
import type { TaskOperations } from "../../core/tools/operations.ts";
import type { StoredTasks } from "../../ports/store/stored-tasks.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import { toView, toViews } from "./task-view.ts";

export async function activeViews(background: BackgroundTasks): Promise<readonly TaskView[]> {
	const views = await toViews((await background.active()).map(({ stored }) => stored));
	return views.filter(({ status }) => !isFinal(status));
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
		wait: async (id, seconds, signal) => void (await background.wait([id], seconds * 1000, signal)),
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
