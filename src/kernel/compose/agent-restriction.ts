// Restricts an agent to fewer tools than its definition gives it, or replaces its system prompt.
import type { AgentDefinition } from "../../definitions/agent-definition.ts";

/** The tools that an agent retains: none, those that run no commands, or all. */
export type ToolScope = "none" | "without-commands" | "all";

const commandToolPaths: ReadonlySet<string> = new Set(["kimi_cli.tools.shell:Shell"]);

/** The restriction applies to its subagents as well. A system prompt replaces that of the agent. */
export function narrowAgent(agent: AgentDefinition, scope: ToolScope, systemPrompt: string | null): AgentDefinition {
	const narrow = (toolPaths: readonly string[]) => {
		if (scope === "none") return [];
		return scope === "all" ? toolPaths : toolPaths.filter((toolPath) => !commandToolPaths.has(toolPath));
	};
	return {
		...agent,
		toolPaths: narrow(agent.toolPaths),
		types: scope === "none" ? [] : agent.types.map((type) => ({ ...type, toolPaths: narrow(type.toolPaths) })),
		...(systemPrompt === null ? {} : { prompt: () => systemPrompt, role: "" }),
	};
}
