import * as v from "valibot";
import { toolSuccess } from "../../../api/values/content.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, readOnly } from "../tool-definition.ts";

const description = `Keep the list of what is to be done in this session.

- Give \`todos\` to replace the whole list; leave it out to see the list as it is.
- Use it for work of several steps: list them first, mark one as \`in_progress\` when you begin it and as \`done\` when it is finished.
- A single simple task needs no list.`;

const schema = v.object({
	todos: v.optional(
		v.pipe(
			v.nullable(
				v.array(
					v.object({
						title: v.pipe(v.string(), v.minLength(1), v.description("What is to be done, in a few words.")),
						status: v.pipe(v.picklist(["pending", "in_progress", "done"]), v.description("How far it is.")),
					}),
				),
			),
			v.description("The whole new list; leave it out to see the present one."),
		),
		null,
	),
});

const updated = "Todo list updated";

export function createSetTodoList(environment: Pick<ToolEnvironment, "todos">): Tool {
	return defineTool({
		name: "SetTodoList",
		description,
		schema,
		prepare: ({ todos }) =>
			readOnly(async () => {
				if (todos !== null) {
					await environment.todos.write(todos);
					return toolSuccess({ output: updated, message: updated, display: [{ type: "todo", items: todos }] });
				}
				const lines = environment.todos.read().map(({ title, status }) => `- [${status}] ${title}`);
				return toolSuccess({
					output: lines.length === 0 ? "The todo list is empty." : ["Current todo list:", ...lines].join("\n"),
				});
			}),
	});
}
