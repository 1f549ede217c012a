import type { Placement } from "../../../../api/session-list.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { LocalDirectory } from "../command-tasks.ts";
import type { Database } from "../database.ts";
import type { FencedWrites } from "../fenced-writes.ts";
import type { ProcessLease } from "../process-lease.ts";

/** What the sessions of a store share; the owner and needs are those of new sessions. */
export interface SessionSurroundings extends Partial<Placement> {
	readonly database: Database;
	readonly clock: Clock;
	readonly log: Log;
	readonly lease: ProcessLease;
	/** For unstored data, with a subdirectory per session. */
	readonly scratch?: LocalDirectory;
}

export interface SessionParts extends Pick<SessionSurroundings, "database" | "log"> {
	readonly sessionId: string;
	readonly writes: FencedWrites;
	readonly local: LocalDirectory | null;
	now(): number;
	whileOpen<T>(work: () => Promise<T>): Promise<T>;
}
