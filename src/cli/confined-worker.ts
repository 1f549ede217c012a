// How a worker gets the confinement of its command: in a variable of its own environment, which the command does not see.

import * as v from "valibot";
import type { Confinement, Processes } from "../processes/port.ts";

export const confinementVariable = "AGENTWIRE_CONFINEMENT";

const paths = v.array(v.string());
const confinementSchema = v.object({
	writable: paths,
	scratch: paths,
	readOnly: paths,
	removed: paths,
	visible: paths,
	hidden: paths,
	network: v.variant("kind", [
		v.object({ kind: v.literal("host") }),
		v.object({ kind: v.literal("none") }),
		v.object({ kind: v.literal("proxy"), socket: v.string() }),
	]),
});

export interface WorkerEnvironment {
	/** What the command gets. */
	readonly environment: Readonly<Record<string, string>>;
	/** Null for a command without a sandbox. */
	readonly confinement: Confinement | null;
}

/** Throws for a confinement that cannot be read: its command must not run without one. */
export function readWorkerEnvironment(given: Readonly<Record<string, string>>): WorkerEnvironment {
	const { [confinementVariable]: text, ...environment } = given;
	if (text === undefined) return { environment, confinement: null };
	return { environment, confinement: v.parse(confinementSchema, JSON.parse(text)) };
}

/**
 * Runs everything with a confinement that the server has made. `createSandboxedProcesses` makes one for each command,
 * which needs the sandbox with its settings and its proxy; a worker has neither.
 */
export function createConfinedProcesses(processes: Processes, confinement: Confinement | null): Processes {
	if (confinement === null) return processes;
	return {
		run: (request, signal) => processes.run({ ...request, confinement }, signal),
		endAll: () => processes.endAll(),
	};
}
