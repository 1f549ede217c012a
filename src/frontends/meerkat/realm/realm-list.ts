import type { SessionsApi } from "../../../api/kernel.ts";
import type { SessionInfo } from "../../../api/session-state.ts";
import { readFacts, type SessionFacts } from "../projection/facts.ts";

interface Left {
	readonly info: SessionInfo;
	/** Milliseconds since the epoch. */
	readonly updatedAt: number;
}

interface KnownFacts {
	readonly updatedAt: number;
	readonly facts: SessionFacts;
}

export class RealmList {
	readonly #sessions: Pick<SessionsApi, "list" | "storedEvents">;
	#facts = new Map<string, KnownFacts>();

	constructor(sessions: Pick<SessionsApi, "list" | "storedEvents">) {
		this.#sessions = sessions;
	}

	/** All sessions, oldest first, because ids begin with the time. `read` gets facts of sessions not `followed`. */
	async all(
		loaded: readonly SessionInfo[],
		followed: ReadonlySet<string>,
	): Promise<{
		readonly infos: readonly SessionInfo[];
		read(page: readonly SessionInfo[]): Promise<ReadonlyMap<string, SessionFacts>>;
	}> {
		const infos = new Map(loaded.map((info) => [info.id, info]));
		const left = new Map<string, Left>();
		for (const { id, workDir, updatedAt, archivedAt } of (await this.#sessions.list({})).sessions) {
			if (archivedAt !== null || followed.has(id)) continue;
			const stored = { id, workDir, model: "", provider: "", isRunning: false, isWaiting: false, labels: {} };
			const info = infos.get(id) ?? stored;
			infos.set(id, info);
			left.set(id, { info, updatedAt });
		}
		return {
			infos: [...infos.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
			read: (page) => this.#read(page.flatMap(({ id }) => left.get(id) ?? [])),
		};
	}

	async #read(page: readonly Left[]): Promise<ReadonlyMap<string, SessionFacts>> {
		const facts = new Map<string, KnownFacts>();
		for (const { info, updatedAt } of page) {
			const known = this.#facts.get(info.id);
			facts.set(
				info.id,
				known?.updatedAt === updatedAt
					? known
					: { updatedAt, ...(await readFacts(this.#sessions.storedEvents(info), updatedAt)) },
			);
		}
		this.#facts = facts;
		return new Map([...facts].map(([id, each]) => [id, each.facts]));
	}
}
