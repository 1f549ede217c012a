import type { SessionsApi } from "../../api/kernel.ts";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { ClusterSessions } from "../../cluster/cluster-sessions.ts";
import { WorkerConnections } from "../../cluster/connections.ts";
import { Placements } from "../../cluster/placements.ts";
import { DatabaseRegistry } from "../../cluster/registry.ts";
import { workerLimits } from "../../cluster/worker-limits.ts";
import type { PostgresStore } from "../../ports/store/postgres/postgres-store.ts";

/** `local` holds the sessions of this process, which reads the store and knows settings and skills. */
export function openClusterSessions(local: SessionsApi, store: PostgresStore, log: Log): ClusterSessions {
	const registry = new DatabaseRegistry(store.database);
	const connections = new WorkerConnections({ registry, limits: workerLimits, clock: systemClock, log });
	const processId = () => store.processId();
	const placements = new Placements({ registry, connections, processId, clock: systemClock, log });
	return new ClusterSessions({ local, registry, placements, connections });
}
