// The sessions of all workers as one kernel has its own: a front end uses them without knowing which worker runs which.

import type { AgentEvent } from "../api/values/event.ts";
import { KernelError } from "../base/errors.ts";
import type {
	CreationOptions,
	ForkOptions,
	ModelList,
	OpeningOptions,
	SessionHandle,
	SessionInfo,
	SessionsApi,
	SkillInfo,
	StoredId,
} from "../kernel/api.ts";
import type { ListQuery, SessionPage } from "../ports/store/session-store.ts";
import { ClusterSession } from "./cluster-session.ts";
import type { WorkerConnections } from "./connections.ts";
import { type Placements, unmet } from "./placements.ts";
import type { Registry, SessionPlace, WorkerPlace } from "./registry.ts";
import { announcesOther, otherVersion } from "./worker-version.ts";

export interface ClusterParts {
	/** What this process does itself: it reads the store, and knows settings and skills. */
	readonly local: SessionsApi;
	readonly registry: Registry;
	readonly placements: Placements;
	readonly connections: WorkerConnections;
}

/** A worker, as operators are shown it. */
export type ShownWorker = Pick<WorkerPlace, "id" | "address" | "tags" | "remoteVersion" | "isEnding"> & {
	/** Why this process cannot use it, and what to do; absent when it can. */
	readonly notUsable?: string;
};

export class ClusterSessions implements SessionsApi {
	readonly takesEditorFiles = false;
	readonly #parts: ClusterParts;
	/** Those in use, by id; an archived one that is read has a key of its own. */
	readonly #used = new Map<string, ClusterSession>();

	constructor(parts: ClusterParts) {
		this.#parts = parts;
	}

	async create(options: CreationOptions): Promise<SessionHandle> {
		const { owner = "", needs = [] } = options.placement ?? {};
		const { handle, kernel } = await this.#parts.placements.placeNew({ owner, needs }, async ({ kernel }) => ({
			handle: await kernel.sessions.create(options),
			kernel,
		}));
		const session = this.#sessionOf(handle.session, {});
		session.adopt({ handle, kernel });
		return session.toHandle(handle.info);
	}

	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		const known = this.#used.get(keyOf(id, options));
		// Somebody else may have archived or deleted it meanwhile.
		if (known !== undefined) return known.toHandle(await known.confirm());
		const session = this.#sessionOf({ id, workDir: "" }, options);
		try {
			return session.toHandle((await session.use()).handle.info);
		} catch (thrown) {
			session.forgetUnused();
			throw thrown;
		}
	}

	fork(id: string, options: ForkOptions = {}): Promise<string> {
		return this.#parts.placements.atWorker(id, ({ kernel }) => kernel.sessions.fork(id, options));
	}

	/** Those of the workers that can be used: one that has just ended has none, and one of another version is not understood. */
	async loaded(): Promise<readonly SessionInfo[]> {
		const { registry, connections } = this.#parts;
		const loaded = (await registry.workers()).map(async (worker) => {
			try {
				return await (await connections.reach(worker)).sessions.loaded();
			} catch (thrown) {
				if (isUnusable(thrown)) return [];
				throw thrown;
			}
		});
		return (await Promise.all(loaded)).flat();
	}

	/** All workers that run, each with the reason why it cannot be used, if there is one. */
	async workers(): Promise<readonly ShownWorker[]> {
		const { registry, connections } = this.#parts;
		const workers = (await registry.workers()).map(async (worker): Promise<ShownWorker> => {
			const { id, address, tags, remoteVersion, isEnding } = worker;
			const shown = { id, address, tags, remoteVersion, isEnding };
			try {
				await connections.reach(worker);
				return shown;
			} catch (thrown) {
				if (isUnusable(thrown)) return { ...shown, notUsable: thrown.message };
				throw thrown;
			}
		});
		return await Promise.all(workers);
	}

	/** With the reason for each session that no worker can run, or whose worker cannot be used. */
	async list(query: ListQuery): Promise<SessionPage> {
		const { local, registry } = this.#parts;
		const page = await local.list(query);
		const places = await registry.placesOf(page.sessions.map(({ id }) => id));
		const areNeeded = [...places.values()].some(({ needs }) => needs.length > 0);
		const workers = areNeeded ? (await registry.workers()).filter((worker) => !announcesOther(worker)) : [];
		const sessions = page.sessions.map((session) => {
			const notRunnable = whyNotRunnable(places.get(session.id), workers);
			return notRunnable === null ? session : { ...session, notRunnable };
		});
		return { ...page, sessions };
	}

	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.#parts.local.storedEvents(session);
	}

	models(): Promise<ModelList> {
		return this.#parts.local.models();
	}

	skills(): Promise<readonly SkillInfo[]> {
		return this.#parts.local.skills();
	}

	skillText(name: string): Promise<string | null> {
		return this.#parts.local.skillText(name);
	}

	async interrupt(id: string): Promise<boolean> {
		const placed = await this.#parts.placements.current(id);
		return placed === null ? false : await placed.kernel.sessions.interrupt(id);
	}

	async unload(id: string): Promise<void> {
		const placed = await this.#parts.placements.current(id);
		await placed?.kernel.sessions.unload(id);
	}

	async archive(id: string): Promise<void> {
		const placed = await this.#parts.placements.current(id);
		await (placed?.kernel.sessions ?? this.#parts.local).archive(id);
	}

	async unarchive(id: string): Promise<void> {
		const placed = await this.#parts.placements.current(id);
		await (placed?.kernel.sessions ?? this.#parts.local).unarchive(id);
	}

	async delete(id: string): Promise<void> {
		const place = await this.#parts.registry.find(id);
		if (place === null) return;
		const kernel = place.worker === null ? null : await this.#parts.connections.reach(place.worker);
		await (kernel?.sessions ?? this.#parts.local).delete(id);
	}

	/** Ends the connections of this process, and what it has opened itself; the sessions go on at their workers. */
	async stop(): Promise<void> {
		for (const session of this.#used.values()) session.end();
		await Promise.all([this.#parts.connections.close(), this.#parts.local.stop()]);
	}

	#sessionOf({ id, workDir }: StoredId, options: OpeningOptions): ClusterSession {
		const key = keyOf(id, options);
		const known = this.#used.get(key);
		if (known !== undefined) return known;
		const session = new ClusterSession(
			{ id, workDir },
			{
				placements: this.#parts.placements,
				options,
				onUnused: () => {
					if (this.#used.get(key) === session) this.#used.delete(key);
				},
			},
		);
		this.#used.set(key, session);
		return session;
	}
}

/** Whether a worker has ended, cannot be reached, or is of another version. */
function isUnusable(thrown: unknown): thrown is KernelError {
	return thrown instanceof KernelError && (thrown.code === "closed" || thrown.code === "unsupported");
}

/** Null for a session that can be used. */
function whyNotRunnable(
	place: Pick<SessionPlace, "needs" | "worker"> | undefined,
	workers: readonly WorkerPlace[],
): string | null {
	if (place === undefined) return null;
	const { needs, worker } = place;
	if (worker !== null && announcesOther(worker)) return otherVersion(worker).message;
	return needs.length === 0 ? null : unmet(needs, workers);
}

function keyOf(id: string, { archived = false }: OpeningOptions): string {
	return archived ? `archived ${id}` : id;
}
