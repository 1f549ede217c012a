// An agent file, read with the tools this program has and tried in the place where the agent will work.
// Loaded only when there is such a file.
import { type AgentDefinition, loadAgentDefinition } from "../../definitions/agent-definition.ts";
import { defaultToolPaths, isForSubagents, toolAvailability } from "../../tools/tool-paths.ts";
import type { HostServices } from "./compose.ts";
import { gatherPromptVariables } from "./prompt-environment.ts";

/** Both paths are absolute. Throws AgentFileError with all that is wrong. */
export async function loadAgent(file: string, workDir: string, hostServices: HostServices): Promise<AgentDefinition> {
	const { files, log } = hostServices;
	return await loadAgentDefinition(file, {
		files,
		log,
		tools: { defaults: defaultToolPaths, availability: toolAvailability, isForSubagents },
		variables: await gatherPromptVariables(workDir, [], [], hostServices),
	});
}
