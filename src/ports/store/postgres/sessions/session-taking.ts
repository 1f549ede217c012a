import { never } from "../../../../base/abort.ts";
import { sleep } from "../../../../base/clock.ts";
import { errorText, KernelError } from "../../../../base/errors.ts";
import type { StoredSession } from "../../session-store.ts";
import { isTransient } from "../database.ts";
import type { SessionRight } from "../process-lease.ts";
import { openPostgresSession } from "./postgres-session.ts";
import type { SessionSurroundings } from "./session-parts.ts";
import { readSessionRow, takeSession } from "./session-row.ts";

/** Milliseconds a newcomer gives the holder to release the session. */
const patience = 3_000;
const pollInterval = 50;
/** Milliseconds between attempts to give a session back. */
const giveBackAgain = 1_000;

export class SessionTaking {
	readonly #surroundings: SessionSurroundings;
	readonly #takeOver: "patient" | "expired";

	constructor(surroundings: SessionSurroundings, takeOver: "patient" | "expired") {
		this.#surroundings = surroundings;
		this.#takeOver = takeOver;
	}

	/** Null if the session was deleted meanwhile. */
	async open(id: string, workDir: string, from?: "ended" | "anyone"): Promise<StoredSession | null> {
		const right = await this.#take(id, from);
		if (right === null) return null;
		try {
			const row = await readSessionRow(this.#surroundings.database, id);
			return row === null ? null : await openPostgresSession(this.#surroundings, { ...right, workDir }, row);
		} catch (thrown) {
			await this.#giveBack(right);
			throw thrown;
		}
	}

	async #take(sessionId: string, from?: "ended" | "anyone"): Promise<SessionRight | null> {
		const { database, clock, lease } = this.#surroundings;
		const isRefused = this.#takeOver === "expired" || from === "ended";
		// Counted in pauses, because the system clock may change.
		for (let waited = 0; ; waited += pollInterval) {
			const holder = await lease.current();
			const isForced = waited >= patience || (!isRefused && from === "anyone");
			const taken = await takeSession(database, sessionId, holder, isForced);
			if (taken === null) return null;
			if ("term" in taken) return { sessionId, holder, term: taken.term };
			// A session still open in this process is being closed.
			if (isRefused && taken.holder !== holder) throw refuseHeld(sessionId, taken.holder);
			await sleep(clock, pollInterval, never);
		}
	}

	/** Gives back a session that could not be opened: no other process would take it while this one lives. */
	async #giveBack(right: SessionRight): Promise<void> {
		const { database, clock, log } = this.#surroundings;
		const { sessionId: id, holder, term } = right;
		try {
			await database.query(
				`update ${database.schema}.session set holder = null where id = $1 and holder = $2 and term = $3`,
				[id, holder, term],
			);
		} catch (thrown) {
			log.info("a session that could not be opened was not given back", { id, cause: errorText(thrown) });
			if (isTransient(thrown)) clock.after(giveBackAgain, () => void this.#giveBack(right), true);
		}
	}
}

function refuseHeld(id: string, holder: string): KernelError {
	return new KernelError("busy", `The session ${id} is open in another process, ${holder}.`, { data: { holder } });
}
