// Loads an agent file, checks it against this program's tools, and renders it in the working directory. Imported only on demand.
import { type AgentDefinition, loadAgentDefinition } from "../../core/definitions/agent-definition.ts";
import { defaultToolPaths, isForSubagents, toolAvailability } from "../../core/tools/tool-paths.ts";
import type { HostServices } from "./host-services.ts";
import { gatherPromptVariables } from "./prompt-environment.ts";

/** Both paths are absolute. By default `warn` logs entries without effect. Throws AgentFileError for all problems. */
export async function loadAgent(
	file: string,
	workDir: string,
	hostServices: HostServices,
	warn: (sentence: string) => void = (sentence) => hostServices.log.warn(sentence),
): Promise<AgentDefinition> {
	const { files, log } = hostServices;
	return await loadAgentDefinition(file, {
		files,
		log,
		warn,
		tools: { defaults: defaultToolPaths, availability: toolAvailability, isForSubagents },
		variables: await gatherPromptVariables(workDir, [], [], hostServices),
	});
}
