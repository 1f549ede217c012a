import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Placement } from "../../../../api/session-list.ts";
import type { StoredSession } from "../../session-store.ts";
import type { WrittenSession } from "../commit-statement.ts";
import { readEventPages } from "../event-pages.ts";
import { createFencedWrites } from "../fenced-writes.ts";
import type { SessionRight } from "../process-lease.ts";
import { createAgent, openAgent } from "./session-agents.ts";
import { SessionEnd } from "./session-end.ts";
import { createHistoryPlace } from "./session-history.ts";
import { SessionHold } from "./session-hold.ts";
import { setLastSession } from "./session-list.ts";
import { createNotifications } from "./session-notifications.ts";
import { readOpening } from "./session-opening.ts";
import type { SessionParts, SessionSurroundings } from "./session-parts.ts";
import type { SessionRow } from "./session-row.ts";
import { createTasks } from "./session-tasks.ts";
import { SessionWriter } from "./session-writer.ts";

export interface TakenSession extends SessionRight, Partial<Placement> {
	readonly workDir: string;
	readonly isStaged?: boolean;
}

/** The right of a view: no process has an empty id, and no session a term of 0. */
export const viewRight = { holder: "", term: 0 };

/** Opens a session that this process has taken; without a row, a new one that its first commit stores. */
export async function openPostgresSession(
	surroundings: SessionSurroundings,
	taken: TakenSession,
	row: SessionRow | null,
): Promise<StoredSession> {
	const { database, clock, log, lease, scratch, owner = "", needs = [] } = surroundings;
	const { sessionId: id, workDir } = taken;
	const { contextRows, start } = await readOpening(surroundings, row);
	const epoch = row?.epoch ?? randomUUID();
	const written: WrittenSession = { owner, needs, isStaged: false, ...taken, epoch };
	const hold = new SessionHold({ ...written, database, lease });
	if (taken.term !== viewRight.term) lease.hold(hold);
	const writer = new SessionWriter({ ...written, database, clock, log, start, hold });
	const writes = createFencedWrites({ database, clock, hold, writer });
	const local = scratch === undefined ? null : { ...scratch, directory: path.join(scratch.directory, id) };
	const end = new SessionEnd({ database, log, lease, workDir, hold, writer, writes, local });
	const whileOpen = <T>(work: () => Promise<T>): Promise<T> => end.whileOpen(work);
	const parts: SessionParts = { database, log, sessionId: id, writes, local, now: () => clock.now(), whileOpen };
	return {
		id,
		workDir,
		directory: local?.directory ?? null,
		existed: start.hasContext,
		contextRows,
		summary: start.summary.current,
		cursor: () => writer.cursor(),
		state: () => writer.state(),
		commit: (batch, { sync = false } = {}) => whileOpen(() => writer.commit(batch, { sync })),
		events: (after = 0) =>
			readEventPages(database, { origin: { sessionId: id, epoch }, log }, after, writer.cursor().seq),
		lost: hold.lost,
		createAgent: (description) => createAgent(description, parts),
		openAgent: (agentId) => openAgent(agentId, parts),
		tasks: createTasks(parts),
		notifications: createNotifications(parts),
		historyPlace: createHistoryPlace(parts),
		markStarted: () => whileOpen(() => setLastSession(database, workDir, id)),
		establish: () => whileOpen(() => writer.establish()),
		close: ({ becomesLast = true } = {}) => end.close(becomesLast),
	};
}
