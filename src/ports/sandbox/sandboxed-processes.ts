// Processes whose commands all run in the sandbox: the one place that adds confinement to a request.
import { errorText } from "../../base/errors.ts";
import type { Processes, RunRequest } from "../processes/port.ts";
import type { SandboxRoots } from "./policy.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * Runs every command with the sandbox's confinement. `roots` is called for each command: directories may be added to a
 * session. A request that has a confinement of its own retains it.
 */
export function createSandboxedProcesses(
	processes: Processes,
	sandbox: Sandbox,
	roots: (request: RunRequest) => SandboxRoots,
): Processes {
	return {
		async run(request, signal) {
			let confinement = request.confinement ?? null;
			try {
				confinement ??= await sandbox.confinementFor(roots(request));
			} catch (thrown) {
				const reason = `The sandbox cannot be applied: ${errorText(thrown)}`;
				const nothing = { output: "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };
				return { ended: { kind: "not-started", reason }, ...nothing };
			}
			return await processes.run({ ...request, ...(confinement === null ? {} : { confinement }) }, signal);
		},
		endAll: () => processes.endAll(),
	};
}
