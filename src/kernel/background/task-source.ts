import type { Notification, StoredTasks } from "../../ports/store/stored-tasks.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { lastLines, taskSource, toTaskBlock } from "./task-notification.ts";

export async function describeTaskSource(
	{ sourceKind, sourceId }: Notification,
	tasks: StoredTasks,
	settings: Configuration["background"],
): Promise<string | null> {
	if (sourceKind !== taskSource) return null;
	const task = await tasks.find(sourceId);
	if (task === null) return null;
	const runtime = await task.runtime();
	const { bytes } = await task.outputTail(settings.notificationTailChars);
	return toTaskBlock(task.spec, runtime, lastLines(bytes, settings.notificationTailLines));
}
