// Restricts an agent to fewer tools than its definition gives it, or replaces its system prompt.
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";

/** The tools that an agent retains: none, those that run no commands, those alone that do, or all. */
export const toolScopes = ["none", "without-commands", "commands", "all"] as const;
export type ToolScope = (typeof toolScopes)[number];

const commandToolPaths: ReadonlySet<string> = new Set(["kimi_cli.tools.shell:Shell"]);

/** The restriction applies to its subagents as well. A system prompt replaces that of the agent. */
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
		// Without the tools that start subagents there are none.
		types:
			scope === "none" || scope === "commands"
				? []
				: agent.types.map((type) => ({ ...type, toolPaths: narrow(type.toolPaths) })),
		...(systemPrompt === null ? {} : { prompt: () => systemPrompt, role: "" }),
	};
}

/** Whether the agent has a tool that runs commands. */
export function runsCommands({ toolPaths }: Pick<AgentDefinition, "toolPaths">): boolean {
	return toolPaths.some((toolPath) => commandToolPaths.has(toolPath));
}
