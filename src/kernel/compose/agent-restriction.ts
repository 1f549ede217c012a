// Restricts an agent to a subset of its tools, or replaces its system prompt.

import type { ToolScope } from "../../api/session-options.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";

export const toolScopes = ["none", "without-commands", "commands", "all"] as const satisfies readonly ToolScope[];

const commandToolPaths: ReadonlySet<string> = new Set(["kimi_cli.tools.shell:Shell"]);

/** The restriction also applies to subagents. A system prompt replaces the agent's own. */
export function narrowAgent(agent: AgentDefinition, scope: ToolScope, systemPrompt: string | null): AgentDefinition {
	const retains: Readonly<Record<ToolScope, (toolPath: string) => boolean>> = {
		none: () => false,
		"without-commands": (toolPath) => !commandToolPaths.has(toolPath),
		commands: (toolPath) => commandToolPaths.has(toolPath),
		all: () => true,
	};
	const narrow = (toolPaths: readonly string[]) => toolPaths.filter(retains[scope]);
	return {
		...agent,
		toolPaths: narrow(agent.toolPaths),
		// Without tools that start subagents, there are no subagents.
		types:
			scope === "none" || scope === "commands"
				? []
				: agent.types.map((type) => ({ ...type, toolPaths: narrow(type.toolPaths) })),
		...(systemPrompt === null ? {} : { prompt: () => systemPrompt, role: "" }),
	};
}

export function runsCommands({ toolPaths }: Pick<AgentDefinition, "toolPaths">): boolean {
	return toolPaths.some((toolPath) => commandToolPaths.has(toolPath));
}
