import * as v from "valibot";
import { boolean, integer } from "./argument-schemas.ts";
import { mediaToolName } from "./files/read-media-file.ts";
import type { AgentOperations } from "./operations.ts";
import { noBackgroundWork, startedResult } from "./tasks/task-results.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";
import { defineTool, readOnly, settled } from "./tool-definition.ts";
import { searchToolName } from "./web/search-web.ts";

const introduction = `Give a task to a subagent. It works in the same directory with a context of its own and returns a report; what it read and did along the way stays out of yours.

- Use it for work that is large to read and short to report: searching a codebase, reviewing a change, doing a part of a task that stands by itself.
- It knows nothing of this conversation. Put everything it needs into \`prompt\`: the goal, the places, the limits, the form of the report.
- Several calls in one answer run in parallel. Do not give two of them the same files to change.
- Its report is not shown to the user. Say yourself what matters of it.
- With \`run_in_background\` the call returns at once with a task id, and you are notified when the subagent is done. Use it when you have other work meanwhile.
- \`resume\` goes on with an earlier subagent, by the id its report names, with everything it knows.

Types:`;

const schema = v.object({
	description: v.pipe(v.string(), v.description("The task in three to five words.")),
	prompt: v.pipe(v.string(), v.minLength(1), v.description("The task itself, complete.")),
	subagent_type: v.optional(v.pipe(v.string(), v.description("One of the types named above.")), "coder"),
	model: v.optional(
		v.nullable(v.pipe(v.string(), v.description("Another model, by its alias in the settings."))),
		null,
	),
	resume: v.optional(v.nullable(v.pipe(v.string(), v.description("The id of a subagent to go on with."))), null),
	run_in_background: v.optional(v.pipe(boolean(), v.description("Whether to start it and go on without it.")), false),
	timeout: v.optional(
		v.nullable(v.pipe(integer(), v.minValue(30), v.maxValue(3600), v.description("Seconds it may take."))),
		null,
	),
});

export function createAgent(
	agents: AgentOperations,
	{ tasks, media, web }: Pick<ToolEnvironment, "tasks" | "media" | "web">,
): Tool {
	return defineTool({
		name: "Agent",
		description: `${introduction}\n${describeTypes(agents, media, web)}`,
		schema,
		prepare(input, { toolCallId }) {
			const { description, prompt, subagent_type: type, model, resume, timeout } = input;
			const request = { description, prompt, type, model, resume, timeout };
			if (!input.run_in_background) return readOnly((signal) => agents.run(request, toolCallId, signal));
			if (tasks === null) return settled(noBackgroundWork());
			return readOnly(async () => {
				const started = await agents.start(request, toolCallId);
				return started.ok ? startedResult(started.task) : started.result;
			});
		},
	});
}

/** Lists the tools of each type, even unavailable ones. */
function describeTypes(agents: AgentOperations, media: ToolEnvironment["media"], web: ToolEnvironment["web"]): string {
	const isThere = (tool: string) =>
		(tool !== mediaToolName || media.takesImages || media.takesVideos) &&
		(tool !== searchToolName || web.searchService !== null);
	return agents.types
		.map(({ name, whenToUse, tools }) => `- ${name}: ${whenToUse} Tools: ${tools.filter(isThere).join(", ")}.`)
		.join("\n");
}
