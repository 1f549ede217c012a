// The sessions of a worker for its front ends: counted, prepared before opening, and refused when the worker is ending.

import type { SessionHandle, SessionsApi } from "../api/kernel.ts";
import type { CreationOptions, OpeningOptions } from "../api/session-options.ts";
import type { SessionInfo } from "../api/session-state.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import { endedData, endingData, isEnding } from "./ending.ts";
import { ForwardedSessions } from "./forwarded-sessions.ts";

/** Milliseconds between two checks for running turns. */
const idleInterval = 50;
/** Every nth check also looks for unused sessions. */
const looksForUnused = 20;

export class WorkerSessions extends ForwardedSessions {
	readonly #prepare: ((workDir: string | null, sessionId: string | null) => Promise<void>) | null;
	/** Release functions of the handles of each session in use. */
	readonly #uses = new Map<string, Set<() => void>>();
	readonly #onUse: () => void;
	readonly #connections = new AbortController();
	/** Authenticated front-end connections. */
	connections = 0;
	#refusesTurns = false;

	/** `onUse` is called when an unused session comes into use. */
	constructor(
		sessions: SessionsApi,
		prepare: ((workDir: string | null, sessionId: string | null) => Promise<void>) | null,
		onUse: () => void,
	) {
		super(sessions, false);
		this.#onUse = onUse;
		this.#prepare = prepare;
	}

	get inUse(): number {
		return this.#uses.size;
	}

	get connectionsEnd(): AbortSignal {
		return this.#connections.signal;
	}

	endConnections(): void {
		this.#connections.abort();
	}

	/** Refuses new turns from now on: front ends start them at another worker. */
	refuseTurns(): void {
		this.#refusesTurns = true;
	}

	/** Maps a request's error: on an ending worker, a closed session continues at another one. */
	explain(thrown: unknown): unknown {
		const isClosed = thrown instanceof KernelError && thrown.code === "closed" && !isEnding(thrown.data);
		if (!this.#refusesTurns || !isClosed) return thrown;
		return new KernelError("closed", thrown.message, { data: endedData, cause: thrown });
	}

	/** Resolves when no turn runs, or on abort. Releases unused sessions at once, so that other versions find them elsewhere. */
	async idle(clock: Clock, signal: AbortSignal): Promise<void> {
		for (let looks = 0; !signal.aborted; looks += 1) {
			const loaded = await this.sessions.loaded();
			if (!loaded.some(({ isRunning }) => isRunning)) return;
			if (looks % looksForUnused === 0) await this.#giveAway(loaded);
			await sleep(clock, idleInterval, signal);
		}
	}

	async #giveAway(loaded: readonly SessionInfo[]): Promise<void> {
		for (const { id, isRunning } of loaded) {
			if (!isRunning && !this.#uses.has(id)) await this.sessions.unload(id).catch(() => {});
		}
	}

	override async create(options: CreationOptions): Promise<SessionHandle> {
		this.#refuseEnding();
		await this.#prepare?.(options.workDir ?? null, null);
		return await this.#unlessEnded(() => this.sessions.create(options));
	}

	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		if (!this.#uses.has(id)) {
			await this.#refuseEndingUnlessRunning(id);
			await this.#prepare?.(null, id);
		}
		return await this.#unlessEnded(() => this.sessions.acquire(id, options));
	}

	/** An ending worker unloads used idle sessions too: a watcher would block others. Clients find them elsewhere. */
	override async unload(id: string): Promise<void> {
		if (this.#refusesTurns && !(await this.#isRunning(id))) {
			for (const release of [...(this.#uses.get(id) ?? [])]) release();
		}
		await this.sessions.unload(id);
	}

	/** A front end cannot stop a worker. */
	async stop(): Promise<void> {
		throw new KernelError("unsupported", "A worker is not ended by those who use it.");
	}

	/** If this worker ended meanwhile, the caller can ask another. */
	async #unlessEnded(open: () => Promise<SessionHandle>): Promise<SessionHandle> {
		try {
			return this.#count(await open());
		} catch (thrown) {
			if (thrown instanceof KernelError && thrown.code === "closed") this.#refuseEnding();
			throw thrown;
		}
	}

	#count(handle: SessionHandle): SessionHandle {
		const { id } = handle.session;
		const uses = this.#uses.get(id) ?? new Set();
		if (uses.size === 0) this.#onUse();
		this.#uses.set(id, uses);
		/** Returns whether this call released it. */
		const give = (): boolean => {
			const isFirst = uses.delete(release);
			if (uses.size === 0 && this.#uses.get(id) === uses) this.#uses.delete(id);
			return isFirst;
		};
		const release = () => {
			if (give()) handle.release();
		};
		uses.add(release);
		return {
			...handle,
			startTurn: async (input, options) => {
				// A running session reports that itself, or which turn the key started.
				await this.#refuseEndingUnlessRunning(id);
				return await handle.startTurn(input, options);
			},
			release,
			discard: async () => {
				if (give()) await handle.discard();
			},
		};
	}

	async #isRunning(id: string): Promise<boolean> {
		return (await this.sessions.loaded()).some((info) => info.id === id && info.isRunning);
	}

	/** Running turns finish here, and the session stays in use until then. */
	async #refuseEndingUnlessRunning(id: string): Promise<void> {
		if (this.#refusesTurns && !(await this.#isRunning(id))) this.#refuseEnding();
	}

	#refuseEnding(): void {
		if (this.#refusesTurns) throw new KernelError("closed", "The worker is ending.", { data: endingData });
	}
}
