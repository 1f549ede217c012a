import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import { agentTypes } from "../../core/definitions/agent-types.ts";
import { defaultToolPaths } from "../../core/tools/tool-paths.ts";
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
