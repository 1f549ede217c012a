// Loads an agent file, checked against the tools of this program and rendered once in the work dir. Imported only when
// such a file is given.
import { type AgentDefinition, loadAgentDefinition } from "../../core/definitions/agent-definition.ts";
import { defaultToolPaths, isForSubagents, toolAvailability } from "../../core/tools/tool-paths.ts";
import type { HostServices } from "./host-services.ts";
import { gatherPromptVariables } from "./prompt-environment.ts";

/**
 * Both paths are absolute. `warn` is called with a sentence for each thing in the file that has no effect; by default the log has
 * them. Throws an AgentFileError that lists all that is wrong.
 */
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
