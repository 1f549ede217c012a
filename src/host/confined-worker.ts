// Passes a command's confinement to its worker in an environment variable that the command does not see.
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
	/** Command variables withheld from the worker, which is not confined. */
	loading: v.record(v.string(), v.string()),
});

export interface WorkerEnvironment {
	readonly environment: Readonly<Record<string, string>>;
	readonly confinement: Confinement | null;
	readonly allowedDomains: readonly string[];
}

export function toWorkerEnvironment({
	environment,
	confinement,
	allowedDomains,
}: WorkerEnvironment): Readonly<Record<string, string>> {
	if (confinement === null) return environment;
	const { loading, others } = splitEnvironment(environment);
	return { ...others, [confinementVariable]: JSON.stringify({ confinement, allowedDomains, loading }) };
}

/** Throws for an unreadable confinement: the command must not run without it. */
export function readWorkerEnvironment(given: Readonly<Record<string, string>>): WorkerEnvironment {
	const { [confinementVariable]: text, ...environment } = given;
	if (text === undefined) return { environment, confinement: null, allowedDomains: [] };
	const { loading, ...confined } = v.parse(confinementSchema, JSON.parse(text));
	return { environment: { ...environment, ...loading }, ...confined };
}

/** Replaces the server's proxy with one of this process, because the command may outlive the server. `end` stops the proxy. */
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

/** Replaces `createSandboxedProcesses`, whose settings and proxy a worker lacks. */
export function createConfinedProcesses(processes: Processes, confinement: Confinement | null): Processes {
	if (confinement === null) return processes;
	return {
		run: (request, signal) => processes.run({ ...request, confinement }, signal),
		endAll: () => processes.endAll(),
	};
}
