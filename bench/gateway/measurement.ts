// Measures the gateway under load: a provider on loopback streams the answers of many sessions at once, at a fixed rate; how
// long until each delta is at a client, what it costs in memory, and whether anything was lost. Provider and clients are processes
// of their own, so that they do not measure themselves; on a machine of few cores they are a part of the load all the same.
import type { ChildProcess } from "node:child_process";
import { Agent } from "node:http";
import { residentMemory, type Target } from "../child.ts";
import { inParallel } from "../parallel.ts";
import { killTree } from "../process-tree.ts";
import { busyTime, processorTime } from "../processor-time.ts";
import { startHelper } from "./helper.ts";
import type { GatewayLoad } from "./loads.ts";
import { type RunningServer, sendCall, startServer } from "./server.ts";

export interface GatewayMeasurement {
	/** Milliseconds from the provider's write to the client's read. */
	readonly median: number;
	readonly p99: number;
	/** Milliseconds by which the provider itself was late, in 99 of 100 of its writes at most. */
	readonly late: number;
	/** Deltas that arrived at clients in a second, those that were merged into one event counted one by one. */
	readonly deltasPerSecond: number;
	/** Microseconds of a core that the gateway took for each of them, from the provider's bytes to the client's; null where it is not reported. */
	readonly cost: number | null;
	/** Of one core, in hundredths, while the answers came; null where it is not reported. */
	readonly shares: ProcessorShares | null;
	/** Bytes of memory: before the answers, and at most. Null where the system does not report it. */
	readonly memory: { readonly before: number; readonly peak: number } | null;
	/** What the cursors and the texts say that is not right: empty. */
	readonly faults: readonly string[];
}

export interface ProcessorShares {
	readonly gateway: number;
	readonly provider: number;
	readonly readers: number;
	/** What else ran on the machine, the system's own work for the three included. */
	readonly others: number;
}

export type ProviderRequest = { readonly kind: "begin"; readonly load: GatewayLoad } | { readonly kind: "stream" };
export type ProviderReport =
	| { readonly kind: "listening"; readonly port: number }
	/** Every session waits for its answer. */
	| { readonly kind: "asked" }
	/** It is measured from now on. */
	| { readonly kind: "warm" }
	| { readonly kind: "streamed"; readonly seconds: number; readonly late: number };

export type ReadersRequest =
	| {
			readonly kind: "open";
			readonly port: number;
			readonly token: string;
			/** The sessions of each stream. */
			readonly shares: readonly (readonly string[])[];
			/** Streams at the beginning that do not read until the end. */
			readonly stalled: number;
			/** Deltas of each answer, and those before the first that is measured. */
			readonly count: number;
			readonly unmeasured: number;
	  }
	| { readonly kind: "finish" };
export type ReadersReport =
	| { readonly kind: "open" }
	| {
			readonly kind: "result";
			readonly deltas: number;
			readonly median: number;
			readonly p99: number;
			readonly faults: readonly string[];
	  };

/** Requests that are under way at once. */
const atOnce = 20;

/** Starts a server of the gateway's protocol and measures it under a load. */
export async function measureGateway(target: Target, workDir: string, load: GatewayLoad): Promise<GatewayMeasurement> {
	const provider = startHelper<ProviderReport, ProviderRequest>("provider.ts");
	const readers = startHelper<ReadersReport, ReadersRequest>("readers.ts");
	const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
	let gateway: RunningServer | null = null;
	try {
		provider.peer.send({ kind: "begin", load });
		const { port } = await provider.peer.next("listening");
		const running = await startServer(target, workDir, port, load.sessions);
		gateway = running;
		const call = (method: string, params: object) => sendCall(running, agent, method, params);
		const ids = await inParallel(load.sessions, atOnce, async () =>
			String((await call("sessions.create", {}))["sessionId"]),
		);
		const shares = Array.from({ length: load.streams }, (_, n) =>
			load.isShared ? ids : ids.filter((_id, index) => index % load.streams === n),
		);
		const unmeasured = load.rate * load.warmUp;
		const count = unmeasured + load.rate * load.seconds;
		readers.peer.send({
			kind: "open",
			port: running.port,
			token: running.token,
			shares,
			stalled: load.stalled,
			count,
			unmeasured,
		});
		await readers.peer.next("open");
		const before = residentMemory(running.child);
		await inParallel(ids.length, atOnce, (n) => call("turn.start", { sessionId: ids[n], input: "go" }));
		await provider.peer.next("asked");
		let peak = before;
		const looking = setInterval(() => {
			peak = Math.max(peak ?? 0, residentMemory(running.child) ?? 0);
		}, 100);
		const used = () => toUse(running.child, provider.child, readers.child);
		provider.peer.send({ kind: "stream" });
		await provider.peer.next("warm");
		const usedBefore = used();
		const streamed = await provider.peer.next("streamed");
		const usedAfter = used();
		readers.peer.send({ kind: "finish" });
		const read = await readers.peer.next("result");
		clearInterval(looking);
		const usedAtEnd = used();
		return {
			median: read.median,
			p99: read.p99,
			late: streamed.late,
			deltasPerSecond: read.deltas / streamed.seconds,
			cost:
				usedBefore === null || usedAtEnd === null
					? null
					: ((usedAtEnd.gateway - usedBefore.gateway) * 1e6) / read.deltas,
			shares: usedBefore === null || usedAfter === null ? null : toShares(usedBefore, usedAfter, streamed.seconds),
			memory: before === null || peak === null ? null : { before, peak },
			faults: read.faults,
		};
	} finally {
		agent.destroy();
		if (gateway !== null) killTree(gateway.child);
		provider.child.kill("SIGKILL");
		readers.child.kill("SIGKILL");
	}
}

type Use = Readonly<Record<"gateway" | "provider" | "readers" | "machine", number>>;

/** Seconds of cores that were taken until now. */
function toUse(
	...children: readonly [gateway: ChildProcess, provider: ChildProcess, readers: ChildProcess]
): Use | null {
	const [gateway, provider, readers] = children.map(processorTime);
	const machine = busyTime();
	return gateway == null || provider == null || readers == null || machine === null
		? null
		: { gateway, provider, readers, machine };
}

function toShares(before: Use, after: Use, seconds: number): ProcessorShares {
	const share = (name: keyof Use) => (100 * (after[name] - before[name])) / seconds;
	const [gateway, provider, readers] = [share("gateway"), share("provider"), share("readers")];
	return { gateway, provider, readers, others: Math.max(0, share("machine") - gateway - provider - readers) };
}
