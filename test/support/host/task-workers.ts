// Workers of background commands for tests: none at all, or the worker's own function in this process.

import { runTaskWorker, type TaskWorkerOptions } from "../../../src/kernel/background/task-worker.ts";
import type { HostServices } from "../../../src/kernel/compose/host-services.ts";
import { ownProcess } from "../../../src/ports/files/living-process.ts";

export const noWorkers = async (): Promise<never> => {
	throw new Error("there are no workers here");
};

/** The lifeline of such a worker goes when it is released, as if the process that started it had gone. */
export function createInProcessWorkers(
	hostServices: Pick<TaskWorkerOptions, "files" | "processes" | "clock" | "log">,
): HostServices["startWorker"] {
	return async (directory, { keep, ...options }, environment) => {
		const cut = new AbortController();
		let nudge = () => {};
		const gone = runTaskWorker({
			...hostServices,
			...options,
			environment,
			directory,
			process: ownProcess(),
			lifeline: {
				cut: cut.signal,
				onNudge(look) {
					nudge = look;
				},
			},
		});
		return {
			gone,
			nudge: () => nudge(),
			release() {
				if (!keep) cut.abort("The program that had started the command is gone.");
			},
		};
	};
}
