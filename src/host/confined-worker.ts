// How a worker gets the confinement of its command: in a variable of its own environment, which the command does not see.
import { tmpdir } from "node:os";
import * as v from "valibot";
import { systemClock } from "../base/clock.ts";
import { randomIdentifiers } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Files } from "../ports/files/port.ts";
import { splitEnvironment } from "../ports/processes/containment.ts";
import type { Confinement, Processes } from "../ports/processes/port.ts";

const confinementVariable = "AGENTWIRE_CONFINEMENT";

const paths = v.array(v.string());
const confinementSchema = v.object({
	confinement: v.object({
		writable: paths,
		scratch: paths,
		readOnly: paths,
		missingAsFiles: paths,
		removed: paths,
		visible: paths,
		hidden: paths,
		network: v.variant("kind", [
			v.object({ kind: v.literal("host") }),
			v.object({ kind: v.literal("none") }),
			v.object({ kind: v.literal("proxy"), socket: v.string() }),
		]),
	}),
	allowedDomains: v.array(v.string()),
	/** Variables of the command that the worker, which is not confined, must not be started with. */
	loading: v.record(v.string(), v.string()),
});

export interface WorkerEnvironment {
	/** What the command gets. */
	readonly environment: Readonly<Record<string, string>>;
	/** Null for a command without a sandbox. */
	readonly confinement: Confinement | null;
	/** What the proxy of the confinement lets through. */
	readonly allowedDomains: readonly string[];
}

/** What a worker is started with. */
export function toWorkerEnvironment({
	environment,
	confinement,
	allowedDomains,
}: WorkerEnvironment): Readonly<Record<string, string>> {
	if (confinement === null) return environment;
	const { loading, others } = splitEnvironment(environment);
	return { ...others, [confinementVariable]: JSON.stringify({ confinement, allowedDomains, loading }) };
}

/** Throws for a confinement that cannot be read: its command must not run without one. */
export function readWorkerEnvironment(given: Readonly<Record<string, string>>): WorkerEnvironment {
	const { [confinementVariable]: text, ...environment } = given;
	if (text === undefined) return { environment, confinement: null, allowedDomains: [] };
	const { loading, ...confined } = v.parse(confinementSchema, JSON.parse(text));
	return { environment: { ...environment, ...loading }, ...confined };
}

/**
 * The confinement with a proxy of this process in place of the server's, which ends with the server while the command
 * may continue. `end` ends the proxy.
 */
export async function withOwnProxy(
	{ confinement, allowedDomains }: Pick<WorkerEnvironment, "confinement" | "allowedDomains">,
	{ shareDir, files, log }: { readonly shareDir: string; readonly files: Files; readonly log: Log },
): Promise<{ readonly confinement: Confinement | null; end(): Promise<void> }> {
	if (confinement?.network.kind !== "proxy") return { confinement, end: async () => undefined };
	const [{ startPrivateProxy }, { systemSockets }] = await Promise.all([
		import("../ports/sandbox/proxy/private-proxy.ts"),
		import("../ports/network/connections/sockets.ts"),
	]);
	const { socket, directory, close } = await startPrivateProxy(allowedDomains, {
		...{ shareDir, temporaryDir: tmpdir(), files, processId: process.pid },
		...{ sockets: systemSockets, clock: systemClock, identifiers: randomIdentifiers, log },
	});
	const hidden = [...confinement.hidden, directory];
	return { confinement: { ...confinement, hidden, network: { kind: "proxy", socket } }, end: close };
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
