// An agent with fewer tools than its definition gives it, or with another prompt.
import type { AgentDefinition } from "../../definitions/agent-definition.ts";

/** Which tools an agent is left with: none, those that run no commands, or all. */
export type ToolScope = "none" | "without-commands" | "all";

const commandToolPaths: ReadonlySet<string> = new Set(["kimi_cli.tools.shell:Shell"]);

/** Subagents are left with no more than the agent itself. A system prompt takes the place of the agent's own. */
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
