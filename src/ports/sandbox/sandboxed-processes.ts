import { errorText } from "../../base/errors.ts";
import type { Processes, RunRequest } from "../processes/port.ts";
import type { SandboxRoots } from "./policy.ts";
import type { Sandbox } from "./sandbox.ts";

/** `roots` is called per command, since directories may be added. Existing confinements are kept. */
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
