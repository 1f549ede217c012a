import { errorText, KernelError } from "../../../../base/errors.ts";
import type { LocalDirectory } from "../command-tasks.ts";
import type { FencedWrites } from "../fenced-writes.ts";
import { deleteRows } from "./session-deletion.ts";
import type { SessionHold } from "./session-hold.ts";
import { setLastSession } from "./session-list.ts";
import type { SessionSurroundings } from "./session-parts.ts";
import type { SessionWriter } from "./session-writer.ts";

export interface EndOptions extends Pick<SessionSurroundings, "database" | "log" | "lease"> {
	readonly workDir: string;
	readonly hold: SessionHold;
	readonly writer: SessionWriter;
	readonly writes: FencedWrites;
	readonly local: LocalDirectory | null;
}

export class SessionEnd {
	readonly #options: EndOptions;
	#closed: Promise<void> | null = null;

	constructor(options: EndOptions) {
		this.#options = options;
	}

	whileOpen<T>(work: () => Promise<T>): Promise<T> {
		return this.#closed === null ? work() : Promise.reject(new KernelError("closed", "The session is closed."));
	}

	close(becomesLast: boolean): Promise<void> {
		const { log, hold } = this.#options;
		this.#closed ??= this.#finish(becomesLast).catch((thrown: unknown) => {
			// There is nobody left to report it to, and everything committed is stored.
			log.warn("closing the session failed", { id: hold.sessionId, cause: errorText(thrown) });
		});
		return this.#closed;
	}

	async #finish(becomesLast: boolean): Promise<void> {
		const { lease, hold, writer, writes } = this.#options;
		try {
			await writer.settled();
			await writes.settled();
			if (!hold.over.aborted) await Promise.race([this.#leave(becomesLast), hold.lost]);
		} finally {
			lease.release(hold);
		}
	}

	async #leave(becomesLast: boolean): Promise<void> {
		const { database, workDir, hold, writer, local } = this.#options;
		const { sessionId, term, holder } = hold;
		if (!writer.exists) return;
		if (writer.isUnused) {
			await deleteRows(database, sessionId, hold);
			await local?.files.remove(local.directory);
			return;
		}
		const summary = writer.summaryColumns();
		const released = await database.query(
			`update ${database.schema}.session set holder = null, summary = coalesce($4, summary), summary_seq = coalesce($5::bigint, summary_seq)
			where id = $1 and term = $2 and holder = $3 returning id`,
			[sessionId, term, holder, summary?.summary ?? null, summary?.seq ?? null],
		);
		if (released.length > 0 && becomesLast && !writer.isEmpty) await setLastSession(database, workDir, sessionId);
	}
}
