// Starts the worker of a background command: this program again, as a process that may outlive it.
import path from "node:path";
import type { StartWorker } from "../kernel/background/command-task.ts";
import { type TaskWorkerFlags, toTaskWorkerArguments } from "./arguments/task-worker-flags.ts";

/** `packageDir` is the installation directory. */
export function createWorkerStarter(
	packageDir: string,
	environment: Readonly<Record<string, string>>,
	contain: TaskWorkerFlags["contain"],
): StartWorker {
	return async (taskDirectory, options) => {
		const { startDetached } = await import("../processes/detached-process.ts");
		const worker = await startDetached({
			file: process.execPath,
			arguments: [
				path.join(packageDir, "bin", "agentwire"),
				...toTaskWorkerArguments({ taskDirectory, ...options, contain }),
			],
			workDir: "/",
			environment,
		});
		return { gone: worker.gone, nudge: () => worker.send("look"), release: () => worker.release() };
	};
}
