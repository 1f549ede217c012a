// What prompts say of the machine and the work dir, gathered from the program's surroundings.
import path from "node:path";
import { loadPromptVariables, type PromptVariables } from "../../definitions/prompt-variables.ts";
import type { Skill } from "../../definitions/skill.ts";
import { findShell } from "../../tools/shell.ts";
import type { HostServices } from "./compose.ts";

/** Reads listings and instructions as they are now. Does not fail for what cannot be read. */
export async function gatherPromptVariables(
	workDir: string,
	additionalDirs: readonly string[],
	skills: readonly Skill[],
	{ files, clock, os, log }: HostServices,
): Promise<PromptVariables> {
	const shellPath = await findShell(files);
	const shell = { name: path.basename(shellPath), path: shellPath };
	return await loadPromptVariables({ files, skills, workDir, additionalDirs, now: clock.now(), os, shell, log });
}
