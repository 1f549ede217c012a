// The sessions of all workers, with the interface of a local kernel: front ends need not know which worker runs a session.

import type { SessionHandle, SessionsApi } from "../api/kernel.ts";
import type { ListQuery, SessionPage } from "../api/session-list.ts";
import type { CreationOptions, ForkOptions, OpeningOptions } from "../api/session-options.ts";
import type { SessionInfo } from "../api/session-state.ts";
import type { ForkedSession } from "../api/values/file-changes.ts";
import { KernelError } from "../base/errors.ts";
import type { WorkerConnections } from "./connections.ts";
import { ForwardedSessions } from "./forwarded-sessions.ts";
import { type Placements, unmet } from "./placements.ts";
import type { Registry, SessionPlace, WorkerPlace } from "./registry.ts";
import { SessionsInUse } from "./sessions-in-use.ts";
import { announcesOther, otherVersion } from "./worker-version.ts";

export interface ClusterParts {
	/** Handled by this process: reading the store, settings and skills. */
	readonly local: SessionsApi;
	readonly registry: Registry;
	readonly placements: Placements;
	readonly connections: WorkerConnections;
}

export type ShownWorker = Pick<WorkerPlace, "id" | "address" | "tags" | "remoteVersion" | "isEnding"> & {
	/** Why this process cannot use it, and the remedy. */
	readonly notUsable?: string;
};

export class ClusterSessions extends ForwardedSessions {
	readonly #parts: ClusterParts;
	readonly #used: SessionsInUse;

	constructor(parts: ClusterParts) {
		super(parts.local, false);
		this.#parts = parts;
		this.#used = new SessionsInUse(parts.placements);
	}

	override async create(options: CreationOptions): Promise<SessionHandle> {
		const { owner = "", needs = [] } = options.placement ?? {};
		const { handle, kernel } = await this.#parts.placements.placeNew({ owner, needs }, async ({ kernel }) => ({
			handle: await kernel.sessions.create(options),
			kernel,
		}));
		return this.#used.adopt({ handle, kernel });
	}

	acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		return this.#used.acquire(id, options);
	}

	override fork(id: string, options: ForkOptions = {}): Promise<ForkedSession> {
		return this.#parts.placements.atWorker(id, ({ kernel }) => kernel.sessions.fork(id, options));
	}

	/** Sessions of usable workers. Skips workers that have just ended or have another version. */
	override async loaded(): Promise<readonly SessionInfo[]> {
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

	/** Includes the reason for each session that no worker can run, or whose worker is unusable. */
	override async list(query: ListQuery): Promise<SessionPage> {
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

	override async interrupt(id: string): Promise<boolean> {
		const placed = await this.#parts.placements.current(id);
		return placed === null ? false : await placed.kernel.sessions.interrupt(id);
	}

	override async unload(id: string): Promise<void> {
		const placed = await this.#parts.placements.current(id);
		await placed?.kernel.sessions.unload(id);
	}

	override async archive(id: string): Promise<void> {
		const placed = await this.#parts.placements.current(id);
		await (placed?.kernel.sessions ?? this.#parts.local).archive(id);
	}

	override async unarchive(id: string): Promise<void> {
		const placed = await this.#parts.placements.current(id);
		await (placed?.kernel.sessions ?? this.#parts.local).unarchive(id);
	}

	override async delete(id: string): Promise<void> {
		const place = await this.#parts.registry.find(id);
		if (place === null) return;
		const kernel = place.worker === null ? null : await this.#parts.connections.reach(place.worker);
		await (kernel?.sessions ?? this.#parts.local).delete(id);
	}

	/** Ends the connections and local sessions of this process; other sessions continue at their workers. */
	async stop(): Promise<void> {
		this.#used.end();
		await Promise.all([this.#parts.connections.close(), this.#parts.local.stop()]);
	}
}

/** Whether a worker has ended, cannot be reached, or is of another version. */
function isUnusable(thrown: unknown): thrown is KernelError {
	return thrown instanceof KernelError && (thrown.code === "closed" || thrown.code === "unsupported");
}

function whyNotRunnable(
	place: Pick<SessionPlace, "needs" | "worker"> | undefined,
	workers: readonly WorkerPlace[],
): string | null {
	if (place === undefined) return null;
	const { needs, worker } = place;
	if (worker !== null && announcesOther(worker)) return otherVersion(worker).message;
	return needs.length === 0 ? null : unmet(needs, workers);
}
