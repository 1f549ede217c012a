// The agents that need no agent file.
import type { AgentDefinition } from "../../definitions/agent-definition.ts";
import { agentTypes } from "../../definitions/agent-types.ts";
import { defaultToolPaths } from "../../tools/tool-paths.ts";
import type { BuiltInAgentName } from "./agent-names.ts";

const defaultAgent: AgentDefinition = {
	name: "default",
	toolPaths: defaultToolPaths,
	prompt: null,
	role: "",
	types: agentTypes,
};

/** `okabe` can also send messages to its own past. */
export const builtInAgents: Readonly<Record<BuiltInAgentName, AgentDefinition>> = {
	default: defaultAgent,
	okabe: {
		...defaultAgent,
		name: "okabe",
		toolPaths: [...defaultToolPaths, "kimi_cli.tools.dmail:SendDMail"],
	},
};
