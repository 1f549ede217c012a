import path from "node:path";
import { loadPromptVariables, type PromptVariables } from "../../core/definitions/prompt-variables.ts";
import type { Skill } from "../../core/definitions/skill.ts";
import { findShell } from "../../core/tools/shell.ts";
import type { HostServices } from "./host-services.ts";

/** Reads current listings and instructions. Unreadable entries do not fail. */
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
