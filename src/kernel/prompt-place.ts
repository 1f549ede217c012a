// What prompts say of the machine and the work dir, gathered from the program's surroundings.
import { loadPromptVariables, type PromptVariables } from "../definitions/prompt-variables.ts";
import type { Files } from "../files/port.ts";
import type { Surroundings } from "./compose.ts";

/** Reads listings and instructions as they are now. Does not fail for what cannot be read. */
export async function gatherPromptVariables(
	workDir: string,
	additionalDirs: readonly string[],
	{ files, clock, os, log }: Surroundings,
): Promise<PromptVariables> {
	const shell = await findShell(files);
	return await loadPromptVariables({ files, workDir, additionalDirs, now: clock.now(), os, shell, log });
}

async function findShell(files: Files): Promise<{ readonly name: string; readonly path: string }> {
	for (const path of ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]) {
		if ((await files.status(path)) !== null) return { name: "bash", path };
	}
	return { name: "sh", path: "/bin/sh" };
}
