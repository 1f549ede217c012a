import * as v from "valibot";
import { toolError, toolSuccess } from "../../../api/values/content.ts";
import { isFinal } from "../../../api/values/task-status.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, settled } from "../tool-definition.ts";
import { noBackgroundWork, taskBlock, taskLines, taskNotFound } from "./task-results.ts";

const description = `End a background task: its command with everything it started, or its subagent.

Use it for what is not needed any more, such as a server after its test. You are notified when the task is over.`;

const defaultReason = "Stopped with TaskStop.";

const schema = v.object({
	task_id: v.pipe(v.string(), v.description("The id of the task.")),
	reason: v.optional(v.pipe(v.string(), v.description("Why, in a few words.")), defaultReason),
});

export function createTaskStop({ tasks, plan }: ToolEnvironment): Tool {
	return defineTool({
		name: "TaskStop",
		description,
		schema,
		async prepare({ task_id: id, reason }) {
			if (tasks === null) return settled(noBackgroundWork());
			if (plan.isOn()) {
				return settled(
					toolError("Plan mode is on: nothing may be stopped before the plan is approved.", "Blocked in plan mode"),
				);
			}
			const task = await tasks.find(id);
			if (task === null) return settled(taskNotFound(id));
			if (isFinal(task.status)) {
				return settled(toolSuccess({ output: taskLines(task).join("\n"), message: "The task was over already." }));
			}
			return {
				kind: "ready",
				approval: {
					byDefault: "ask",
					action: "stop background task",
					subjects: [{ kind: "task", operation: "stop", id }],
					description: `Stop background task \`${id}\``,
					display: [taskBlock(task)],
				},
				hasEffect: true,
				target: null,
				async execute() {
					const stopped = await tasks.stop(id, reason.trim() || defaultReason);
					if (stopped === null) return taskNotFound(id);
					return toolSuccess({
						output: taskLines(stopped).join("\n"),
						message: "The stop was requested.",
						display: [taskBlock(stopped)],
					});
				},
			};
		},
	});
}
