// The sessions of a worker as front ends use them: counted, prepared before they are opened, and refused when the worker ends.
import { type Clock, sleep } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import type { AgentEvent } from "../events/event.ts";
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
import type { ListQuery, SessionPage } from "../store/session-store.ts";
import { endingData } from "./placements.ts";

/** Milliseconds between two looks whether a turn still runs. */
const idleInterval = 50;

export class WorkerSessions implements SessionsApi {
	readonly takesEditorFiles = false;
	readonly #sessions: SessionsApi;
	readonly #prepare: ((workDir: string | null, sessionId: string | null) => Promise<void>) | null;
	/** The handles of each session that is used. */
	readonly #uses = new Map<string, number>();
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

	/** Resolves once no turn runs, or the signal aborts. */
	async idle(clock: Clock, signal: AbortSignal): Promise<void> {
		while (!signal.aborted && (await this.#sessions.loaded()).some(({ isRunning }) => isRunning)) {
			await sleep(clock, idleInterval, signal);
		}
	}

	async create(options: CreationOptions): Promise<SessionHandle> {
		this.#refuseEnding();
		await this.#prepare?.(options.workDir ?? null, null);
		return this.#count(await this.#sessions.create(options));
	}

	async acquire(id: string, options: OpeningOptions = {}): Promise<SessionHandle> {
		if (!this.#uses.has(id)) {
			this.#refuseEnding();
			await this.#prepare?.(null, id);
		}
		try {
			return this.#count(await this.#sessions.acquire(id, options));
		} catch (thrown) {
			// It has ended meanwhile: another worker can be asked.
			if (thrown instanceof KernelError && thrown.code === "closed") this.#refuseEnding();
			throw thrown;
		}
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

	unload(id: string): Promise<void> {
		return this.#sessions.unload(id);
	}

	archive(id: string): Promise<void> {
		return this.#sessions.archive(id);
	}

	delete(id: string): Promise<void> {
		return this.#sessions.delete(id);
	}

	/** A front end does not end a worker. */
	async stop(): Promise<void> {
		throw new KernelError("unsupported", "A worker is not ended by those who use it.");
	}

	#count(handle: SessionHandle): SessionHandle {
		const { id } = handle.session;
		const known = this.#uses.get(id);
		this.#uses.set(id, (known ?? 0) + 1);
		if (known === undefined) this.#onUse();
		let isGiven = false;
		const give = () => {
			if (isGiven) return;
			isGiven = true;
			const left = (this.#uses.get(id) ?? 1) - 1;
			if (left > 0) this.#uses.set(id, left);
			else this.#uses.delete(id);
		};
		return {
			...handle,
			startTurn: async (input, options) => {
				this.#refuseEnding();
				return await handle.startTurn(input, options);
			},
			release: () => {
				give();
				handle.release();
			},
			discard: async () => {
				give();
				await handle.discard();
			},
		};
	}

	#refuseEnding(): void {
		if (this.#refusesTurns) throw new KernelError("closed", "The worker is ending.", { data: endingData });
	}
}
