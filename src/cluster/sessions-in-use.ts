// The sessions that this process's front ends use, each one object wherever it runs.
import type { SessionHandle } from "../api/kernel.ts";
import type { OpeningOptions } from "../api/session-options.ts";
import type { StoredId } from "../api/session-state.ts";
import { ClusterSession, type SessionPlaces, type Used } from "./cluster-session.ts";

export class SessionsInUse {
	readonly #places: SessionPlaces;
	/** By id; reading an archived one has a separate key. */
	readonly #used = new Map<string, ClusterSession>();

	constructor(places: SessionPlaces) {
		this.#places = places;
	}

	has(id: string): boolean {
		return [...this.#used.values()].some((session) => session.id === id);
	}

	/** A handle to a session just created there. */
	adopt(used: Used): SessionHandle {
		const session = this.#sessionOf(used.handle.session, {});
		session.adopt(used);
		return session.toHandle(used.handle.info);
	}

	async acquire(id: string, options: OpeningOptions): Promise<SessionHandle> {
		const known = this.#used.get(keyOf(id, options));
		// It may have been archived or deleted elsewhere meanwhile.
		if (known !== undefined) return known.toHandle(await known.confirm());
		const session = this.#sessionOf({ id, workDir: "" }, options);
		try {
			return session.toHandle((await session.use()).handle.info);
		} catch (thrown) {
			session.forgetUnused();
			throw thrown;
		}
	}

	/** Stops using them here; they continue where they run. */
	end(): void {
		for (const session of this.#used.values()) session.end();
	}

	#sessionOf({ id, workDir }: StoredId, options: OpeningOptions): ClusterSession {
		const key = keyOf(id, options);
		const known = this.#used.get(key);
		if (known !== undefined) return known;
		const onUnused = () => {
			if (this.#used.get(key) === session) this.#used.delete(key);
		};
		const session = new ClusterSession({ id, workDir }, { placements: this.#places, options, onUnused });
		this.#used.set(key, session);
		return session;
	}
}

function keyOf(id: string, { archived = false }: OpeningOptions): string {
	return archived ? `archived ${id}` : id;
}
