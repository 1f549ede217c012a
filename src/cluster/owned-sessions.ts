// The sessions of a store whose processes reach each other: a session that another process owns is used in that process, as a
// further client, and every other one here. When its owner ends, the session continues here.

import type { AgentEvent } from "../api/values/event.ts";
import type { ForkedSession } from "../api/values/file-changes.ts";
import { never } from "../base/abort.ts";
import { sleep, systemClock } from "../base/clock.ts";
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
import type { RemoteKernel } from "../remote/remote-kernel.ts";
import type { RunningPlace } from "./cluster-session.ts";
import { SessionsInUse } from "./sessions-in-use.ts";

/** Milliseconds between two looks whether another process has become the owner of an attached session. */
const watchInterval = 1000;

export interface Owners {
	/**
	 * The process that owns a stored session; null if that is this process, or none that can be reached. Faster with the
	 * session's work directory.
	 */
	reach(sessionId: string, workDir?: string): Promise<RemoteKernel | null>;
	/** The reached processes. */
	reached(): Promise<readonly RemoteKernel[]>;
	/** Ends the connections. */
	close(): Promise<void>;
}

export class OwnedSessions implements SessionsApi {
	readonly takesEditorFiles: boolean;
	readonly #local: SessionsApi;
	readonly #owners: Owners;
	readonly #used: SessionsInUse;

	constructor(local: SessionsApi, owners: Owners) {
		this.takesEditorFiles = local.takesEditorFiles;
		this.#local = local;
		this.#owners = owners;
		const here: RunningPlace = { sessions: local, lost: never };
		this.#used = new SessionsInUse({
			async atWorker(sessionId, work) {
				const owner = await owners.reach(sessionId);
				if (owner === null) return await work({ kernel: here });
				try {
					return await work({ kernel: owner });
				} catch (thrown) {
					const isThere = !(thrown instanceof KernelError && thrown.code === "session-not-found");
					if (isThere && !owner.lost.aborted) throw thrown;
				}
				return await work({ kernel: here });
			},
			async watch({ id, workDir }, place, onMoved, signal) {
				while (!signal.aborted) {
					await sleep(systemClock, watchInterval, signal, true);
					const from = place();
					const now = await owners.reach(id, workDir).catch(() => from);
					if (!signal.aborted && (now ?? here) !== from) onMoved();
				}
			},
		});
	}

	create(options: CreationOptions): Promise<SessionHandle> {
		return this.#local.create(options);
	}

	/** With options that only apply where the session is loaded, it is used here. */
	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		const isPlain = Object.keys(options).every((name) => name === "archived");
		return isPlain ? this.#toHandle(await this.#used.acquire(id, options)) : await this.#local.acquire(id, options);
	}

	fork(id: string, options?: ForkOptions): Promise<ForkedSession> {
		return this.#local.fork(id, options);
	}

	async loaded(): Promise<readonly SessionInfo[]> {
		const reached = (await this.#owners.reached()).map((owner) => owner.sessions.loaded().catch(() => []));
		const elsewhere = (await Promise.all(reached)).flat().filter(({ id }) => this.#used.has(id));
		const ids = new Set(elsewhere.map(({ id }) => id));
		return [...(await this.#local.loaded()).filter(({ id }) => !ids.has(id)), ...elsewhere];
	}

	list(query: ListQuery): Promise<SessionPage> {
		return this.#local.list(query);
	}

	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.#local.storedEvents(session);
	}

	models(): Promise<ModelList> {
		return this.#local.models();
	}

	skills(): Promise<readonly SkillInfo[]> {
		return this.#local.skills();
	}

	skillText(name: string): Promise<string | null> {
		return this.#local.skillText(name);
	}

	interrupt(id: string): Promise<boolean> {
		return this.#local.interrupt(id);
	}

	unload(id: string): Promise<void> {
		return this.#local.unload(id);
	}

	archive(id: string): Promise<void> {
		return this.#local.archive(id);
	}

	unarchive(id: string): Promise<void> {
		return this.#local.unarchive(id);
	}

	delete(id: string): Promise<void> {
		return this.#local.delete(id);
	}

	/** Ends the connections and the sessions of this process; other sessions continue at their owners. */
	async stop(): Promise<void> {
		this.#used.end();
		await Promise.all([this.#owners.close(), this.#local.stop()]);
	}

	#toHandle(handle: SessionHandle): SessionHandle {
		return {
			...handle,
			// Takes the session over here. Its clients follow when they see the turn.
			startTurn: async (input, options) => {
				if (options?.takeOver !== true) return await handle.startTurn(input, options);
				const local = await this.#local.acquire(handle.session.id);
				try {
					return await local.startTurn(input, options);
				} finally {
					local.release();
				}
			},
		};
	}
}
