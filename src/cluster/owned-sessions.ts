// Sessions that another process owns are used there, as a further client; all others, and those whose owner ends, here.

import type { SessionHandle, SessionsApi } from "../api/kernel.ts";
import type { OpeningOptions } from "../api/session-options.ts";
import type { SessionInfo } from "../api/session-state.ts";
import { never } from "../base/abort.ts";
import { sleep, systemClock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import type { RemoteKernel } from "../remote/remote-kernel.ts";
import type { RunningPlace } from "./cluster-session.ts";
import { ForwardedSessions } from "./forwarded-sessions.ts";
import { SessionsInUse } from "./sessions-in-use.ts";

/** Milliseconds between two looks whether another process has become the owner of an attached session. */
const watchInterval = 1000;

export interface Owners {
	/** The owner of a stored session; null if it is this process or unreachable. Faster with the work directory. */
	reach(sessionId: string, workDir?: string): Promise<RemoteKernel | null>;
	reached(): Promise<readonly RemoteKernel[]>;
	close(): Promise<void>;
}

export class OwnedSessions extends ForwardedSessions {
	readonly #owners: Owners;
	readonly #used: SessionsInUse;

	constructor(local: SessionsApi, owners: Owners) {
		super(local);
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

	/** With options that only apply where the session is loaded, it is used here. */
	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		const isPlain = Object.keys(options).every((name) => name === "archived");
		return isPlain ? this.#toHandle(await this.#used.acquire(id, options)) : await this.sessions.acquire(id, options);
	}

	override async loaded(): Promise<readonly SessionInfo[]> {
		const reached = (await this.#owners.reached()).map((owner) => owner.sessions.loaded().catch(() => []));
		const elsewhere = (await Promise.all(reached)).flat().filter(({ id }) => this.#used.has(id));
		const ids = new Set(elsewhere.map(({ id }) => id));
		return [...(await this.sessions.loaded()).filter(({ id }) => !ids.has(id)), ...elsewhere];
	}

	/** Ends the connections and the sessions of this process; other sessions continue at their owners. */
	async stop(): Promise<void> {
		this.#used.end();
		await Promise.all([this.#owners.close(), this.sessions.stop()]);
	}

	#toHandle(handle: SessionHandle): SessionHandle {
		return {
			...handle,
			// Takes the session over here. Its clients follow when they see the turn.
			startTurn: async (input, options) => {
				if (options?.takeOver !== true) return await handle.startTurn(input, options);
				const local = await this.sessions.acquire(handle.session.id);
				try {
					return await local.startTurn(input, options);
				} finally {
					local.release();
				}
			},
		};
	}
}
