import type { HostServices } from "../kernel/compose/host-services.ts";
import { toWorkerEnvironment } from "./confined-worker.ts";
import type { Installation } from "./installation.ts";
import { type TaskWorkerFlags, toTaskWorkerArguments } from "./task-worker-arguments.ts";

export function createWorkerStarter(
	{ command: [file, ...first] }: Installation,
	contain: TaskWorkerFlags["contain"],
	allowedDomains: readonly string[],
): HostServices["startWorker"] {
	return async (taskDirectory, options, environment, confinement) => {
		const { startDetached } = await import("../ports/processes/unconfined/detached-process.ts");
		const worker = await startDetached({
			file,
			arguments: [...first, ...toTaskWorkerArguments({ taskDirectory, ...options, contain })],
			workDir: "/",
			environment: toWorkerEnvironment({ environment, confinement, allowedDomains }),
		});
		return { gone: worker.gone, nudge: () => worker.send("look"), release: () => worker.release() };
	};
}
