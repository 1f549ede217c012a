import * as v from "valibot";
import { toolSuccess } from "../../../api/values/content.ts";
import { boolean, integer } from "../argument-schemas.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, readOnly, settled } from "../tool-definition.ts";
import { noBackgroundWork, taskBlock, taskLines } from "./task-results.ts";

const description = `List background tasks, the newest first: commands and subagents that were started with \`run_in_background\`.

You are notified when a task is over; there is no need to ask for it again and again.`;

const schema = v.object({
	active_only: v.optional(v.pipe(boolean(), v.description("Whether to leave out those that are over.")), true),
	limit: v.optional(v.pipe(integer(), v.minValue(1), v.maxValue(100), v.description("How many to list at most.")), 20),
});

export function createTaskList({ tasks }: ToolEnvironment): Tool {
	return defineTool({
		name: "TaskList",
		description,
		schema,
		prepare({ active_only: activeOnly, limit }) {
			if (tasks === null) return settled(noBackgroundWork());
			return readOnly(async () => {
				const all = await tasks.list(activeOnly);
				const shown = all.slice(0, limit);
				const heading = `${activeOnly ? "active_background_tasks" : "background_tasks"}: ${all.length}`;
				const blocks = shown.map((task, index) =>
					[...taskLines(task), ...(task.reason === null ? [] : [`reason: ${task.reason}`])]
						.map((line, position) => (position === 0 ? `${index + 1}. ${line}` : `   ${line}`))
						.join("\n"),
				);
				const output = [heading, ...(blocks.length === 0 ? ["[no tasks]"] : blocks)].join("\n");
				return toolSuccess({ output, display: shown.map(taskBlock) });
			});
		},
	});
}
