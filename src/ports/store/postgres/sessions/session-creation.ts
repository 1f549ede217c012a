import { errorText, KernelError } from "../../../../base/errors.ts";
import { undo } from "../../../../base/log.ts";
import type { StoredSession } from "../../session-store.ts";
import type { SessionRight } from "../process-lease.ts";
import { openPostgresSession } from "./postgres-session.ts";
import { deleteRows } from "./session-deletion.ts";
import type { SessionSurroundings } from "./session-parts.ts";
import { readSessionRow } from "./session-row.ts";

export type Fill = (session: StoredSession) => Promise<void>;

/** Creates sessions that are hidden until they are complete. */
export class SessionCreation {
	readonly #surroundings: SessionSurroundings;
	/** Ids of sessions this process is creating: the later of two concurrent openings would take the session from the first. */
	readonly #running = new Set<string>();

	constructor(surroundings: SessionSurroundings) {
		this.#surroundings = surroundings;
	}

	async create(workDir: string, id: string, fill: Fill, like: string | null): Promise<void> {
		if (this.#running.has(id)) throw refuseMaking(id, "already");
		this.#running.add(id);
		try {
			await this.#fillNew(workDir, await this.#begin(id), fill, like);
		} finally {
			this.#running.delete(id);
		}
	}

	/** Removes the session if a dead process was creating it. Fails `busy` while a living process is. */
	async removeStaged(id: string): Promise<void> {
		if (await deleteRows(this.#surroundings.database, id, null)) return;
		throw refuseMaking(id, "by another process");
	}

	async #begin(sessionId: string): Promise<SessionRight> {
		const { database, lease } = this.#surroundings;
		const found = await readSessionRow(database, sessionId);
		if (found?.is_staged === true) await this.removeStaged(sessionId);
		else if (found !== null) throw refuseKnown(sessionId);
		return { sessionId, holder: await lease.current(), term: 1 };
	}

	async #fillNew(workDir: string, right: SessionRight, fill: Fill, like: string | null): Promise<void> {
		const session = await openPostgresSession(this.#surroundings, { ...right, workDir, isStaged: true }, null);
		const release = () => session.close({ becomesLast: false });
		try {
			await fill(session);
			await session.establish();
			if (!(await this.#publish(right, like))) throw await session.lost;
		} catch (thrown) {
			await undo(release, "a session that could not be made was not closed", this.#surroundings.log);
			throw await this.#abandon(session.id, session.cursor().epoch, thrown);
		}
		await release();
	}

	async #publish({ sessionId, holder }: SessionRight, like: string | null): Promise<boolean> {
		const { query, schema } = this.#surroundings.database;
		const done = await query(
			`update ${schema}.session s set is_staged = false,
				owner = coalesce((select owner from ${schema}.session where id = $3), s.owner),
				needs = coalesce((select needs from ${schema}.session where id = $3), s.needs)
			where id = $1 and holder = $2 and term = 1 and is_staged returning id`,
			[sessionId, holder, like],
		);
		return done.length > 0;
	}

	/** Removes the stored parts of a session that could not be created. Returns the reason. */
	async #abandon(id: string, epoch: string, thrown: unknown): Promise<unknown> {
		const { database, log } = this.#surroundings;
		try {
			const row = await readSessionRow(database, id);
			if (row === null) return thrown;
			if (row.epoch !== epoch) return refuseKnown(id);
			if (row.is_staged) await deleteRows(database, id, null);
		} catch (error) {
			log.info("a session that could not be made was not removed", { id, cause: errorText(error) });
		}
		return thrown;
	}
}

function refuseKnown(id: string): KernelError {
	return new KernelError("busy", `There is a session ${id} already: choose another id.`);
}

function refuseMaking(id: string, how: string): KernelError {
	return new KernelError("busy", `The session ${id} is being made ${how}: choose another id.`);
}
