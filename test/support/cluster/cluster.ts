// Workers and front ends in one process, over real sockets of the loopback interface.
import { onTestFinished } from "vitest";
import type { SessionsApi } from "../../../src/api/kernel.ts";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { ClusterSessions } from "../../../src/cluster/cluster-sessions.ts";
import { WorkerConnections } from "../../../src/cluster/connections.ts";
import { Placements } from "../../../src/cluster/placements.ts";
import { startWorker, type Worker, type WorkerOptions } from "../../../src/cluster/worker.ts";
import { MemoryRegistry } from "./memory-registry.ts";

const limits = { lineLimit: 10_000_000, outboxLimit: 262_144 };

export interface ClusterSubject {
	readonly registry: MemoryRegistry;
	/** Starts a worker with these sessions. */
	addWorker(id: string, sessions: SessionsApi, options?: Partial<WorkerOptions>): Promise<Worker>;
	/** The sessions as a front end has them, which waits so many milliseconds for a worker. */
	addFrontEnd(local: SessionsApi, patience?: number, clock?: Clock, processId?: () => Promise<string>): ClusterSessions;
}

/** Everything ends with the test. */
export function createCluster(): ClusterSubject {
	const registry = new MemoryRegistry();
	return {
		registry,
		async addWorker(id, sessions, options = {}) {
			const worker = await startWorker({
				sessions,
				registry,
				processId: async () => id,
				tags: [],
				capacity: 100,
				listen: { host: "127.0.0.1", port: 0 },
				announced: null,
				tls: null,
				prepare: null,
				limits,
				clock: systemClock,
				log: silentLog,
				...options,
			});
			onTestFinished(() => worker.close());
			return worker;
		},
		addFrontEnd(local, patience = 5_000, clock = systemClock, processId = async () => "front") {
			const connections = new WorkerConnections({ registry, limits, clock, log: silentLog });
			const parts = {
				registry,
				connections,
				processId,
				patience,
				clock,
				log: silentLog,
			};
			const sessions = new ClusterSessions({ local, registry, connections, placements: new Placements(parts) });
			onTestFinished(() => sessions.stop());
			return sessions;
		},
	};
}

/** A front end's way to sessions that one worker has. */
export async function reachThroughWorker(sessions: SessionsApi): Promise<SessionsApi> {
	const cluster = createCluster();
	await cluster.addWorker("w1", sessions);
	return cluster.addFrontEnd(sessions);
}
