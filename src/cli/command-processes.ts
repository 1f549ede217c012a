// The child processes of commands without a session: contained like a session's, by the same setting.
import type { Files } from "../files/port.ts";
import { createProcesses } from "../processes/children.ts";
import { createLazyProcesses } from "../processes/lazy-processes.ts";
import type { Processes } from "../processes/port.ts";
import { readCommandSettings } from "./command-settings.ts";

/** Reads the setting when there is a process to run. */
export function createCommandProcesses(files: Files, shareDir: string): Processes {
	return createLazyProcesses(async () => {
		const { contain = "auto" } = (await readCommandSettings(files, shareDir)) ?? {};
		return createProcesses({ contain });
	});
}
