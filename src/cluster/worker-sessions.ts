// The sessions of a worker as front ends use them: counted, prepared before they are opened, and refused when the worker ends.

import type { AgentEvent } from "../api/values/event.ts";
import { type Clock, sleep } from "../base/clock.ts";
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
import { endedData, endingData, isEnding } from "./ending.ts";

/** Milliseconds between two looks whether a turn still runs. */
const idleInterval = 50;
/** Of so many of them, one looks for sessions that nobody uses. */
const looksForUnused = 20;

export class WorkerSessions implements SessionsApi {
	readonly takesEditorFiles = false;
	readonly #sessions: SessionsApi;
	readonly #prepare: ((workDir: string | null, sessionId: string | null) => Promise<void>) | null;
	/** What gives each handle back, of each session that is used. */
	readonly #uses = new Map<string, Set<() => void>>();
	readonly #onUse: () => void;
	readonly #connections = new AbortController();
	/** Those of front ends that were admitted. */
	connections = 0;
	#refusesTurns = false;

	/** `onUse` is called when a session comes into use that was not used. */
	constructor(
		sessions: SessionsApi,
		prepare: ((workDir: string | null, sessionId: string | null) => Promise<void>) | null,
		onUse: () => void,
	) {
		this.#onUse = onUse;
		this.#sessions = sessions;
		this.#prepare = prepare;
	}

	/** How many sessions are used. */
	get inUse(): number {
		return this.#uses.size;
	}

	/** Aborts when the connections of front ends have to end. */
	get connectionsEnd(): AbortSignal {
		return this.#connections.signal;
	}

	endConnections(): void {
		this.#connections.abort();
	}

	/** From now on nothing begins here: whoever wants it begins it at another worker. */
	refuseTurns(): void {
		this.#refusesTurns = true;
	}

	/** What a request fails with: at a worker that ends, a session that is closed goes on at another one. */
	explain(thrown: unknown): unknown {
		const isClosed = thrown instanceof KernelError && thrown.code === "closed" && !isEnding(thrown.data);
		if (!this.#refusesTurns || !isClosed) return thrown;
		return new KernelError("closed", thrown.message, { data: endedData, cause: thrown });
	}

	/**
	 * Resolves once no turn runs, or the signal aborts. What nobody uses meanwhile is given away at once: also front ends of
	 * another version, which cannot ask for it here, then find it at another worker.
	 */
	async idle(clock: Clock, signal: AbortSignal): Promise<void> {
		for (let looks = 0; !signal.aborted; looks += 1) {
			const loaded = await this.#sessions.loaded();
			if (!loaded.some(({ isRunning }) => isRunning)) return;
			if (looks % looksForUnused === 0) await this.#giveAway(loaded);
			await sleep(clock, idleInterval, signal);
		}
	}

	async #giveAway(loaded: readonly SessionInfo[]): Promise<void> {
		for (const { id, isRunning } of loaded) {
			if (!isRunning && !this.#uses.has(id)) await this.#sessions.unload(id).catch(() => {});
		}
	}

	async create(options: CreationOptions): Promise<SessionHandle> {
		this.#refuseEnding();
		await this.#prepare?.(options.workDir ?? null, null);
		return await this.#unlessEnded(() => this.#sessions.create(options));
	}

	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		if (!this.#uses.has(id)) {
			await this.#refuseEndingUnlessRunning(id);
			await this.#prepare?.(null, id);
		}
		return await this.#unlessEnded(() => this.#sessions.acquire(id, options));
	}

	fork(id: string, options?: ForkOptions): Promise<string> {
		return this.#sessions.fork(id, options);
	}

	loaded(): Promise<readonly SessionInfo[]> {
		return this.#sessions.loaded();
	}

	list(query: ListQuery): Promise<SessionPage> {
		return this.#sessions.list(query);
	}

	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.#sessions.storedEvents(session);
	}

	models(): Promise<ModelList> {
		return this.#sessions.models();
	}

	skills(): Promise<readonly SkillInfo[]> {
		return this.#sessions.skills();
	}

	skillText(name: string): Promise<string | null> {
		return this.#sessions.skillText(name);
	}

	interrupt(id: string): Promise<boolean> {
		return this.#sessions.interrupt(id);
	}

	/**
	 * From a worker that ends an idle session is taken away, whoever uses it: their events end, and they find it at another
	 * worker. A client that only watches would otherwise keep it from all that want to go on with it.
	 */
	async unload(id: string): Promise<void> {
		if (this.#refusesTurns && !(await this.#isRunning(id))) {
			for (const release of [...(this.#uses.get(id) ?? [])]) release();
		}
		await this.#sessions.unload(id);
	}

	archive(id: string): Promise<void> {
		return this.#sessions.archive(id);
	}

	unarchive(id: string): Promise<void> {
		return this.#sessions.unarchive(id);
	}

	delete(id: string): Promise<void> {
		return this.#sessions.delete(id);
	}

	/** A front end does not end a worker. */
	async stop(): Promise<void> {
		throw new KernelError("unsupported", "A worker is not ended by those who use it.");
	}

	/** When this worker has ended meanwhile, another one can be asked. */
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
		/** Whether it was not given back yet. */
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
				// One that runs says so itself, or which turn the key started.
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
		return (await this.#sessions.loaded()).some((info) => info.id === id && info.isRunning);
	}

	/** What runs here runs to its end here, and is used until then. */
	async #refuseEndingUnlessRunning(id: string): Promise<void> {
		if (this.#refusesTurns && !(await this.#isRunning(id))) this.#refuseEnding();
	}

	#refuseEnding(): void {
		if (this.#refusesTurns) throw new KernelError("closed", "The worker is ending.", { data: endingData });
	}
}
