// Many sessions in one process: created and opened as clients request, unloaded when nobody uses them, loaded again on
// use. Which of them are loaded is the slot cache's matter; here is what a session of many is opened with and does.
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { timeOrderedUuid } from "../../base/time-id.ts";
import type { UserInput } from "../../events/content.ts";
import { ModelConfigurationError } from "../../models/model-settings.ts";
import { type FaultOwner, nobody } from "../session/fault-owner.ts";
import type { Session } from "../session/session.ts";
import { createFaultScopes } from "./fault-scopes.ts";
import {
	type ChosenOptions,
	type CommonOptions,
	chooseOptions,
	chooseOptionsAgain,
	choosePlainOptions,
	type SessionRequest,
} from "./hosted-options.ts";
import type { Kernel } from "./kernel.ts";
import { SlotCache } from "./slot-cache.ts";

/** What is known of a session without loading it. */
export interface SessionInfo {
	readonly id: string;
	/** The name sent to the provider, and the provider's key; empty when there is none. */
	readonly model: string;
	readonly provider: string;
	readonly isRunning: boolean;
}

/** A loaded session, kept loaded until it is released. */
export interface SessionHandle {
	readonly session: Session;
	readonly info: SessionInfo;
	/** Starts a turn; fails `busy`, and `overloaded` when too many run. */
	startTurn(input: UserInput): Promise<{ readonly turnId: string }>;
	/** To be called once. */
	release(): void;
	/** In its place, for a session that was made for a turn and could not begin it: there is no such session then. */
	discard(): Promise<void>;
}

export interface SessionHostParts extends CommonOptions {
	readonly kernel: Kernel;
	readonly workDir: string;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

export class SessionHost {
	readonly #parts: SessionHostParts;
	readonly #cache: SlotCache<Session>;
	/** What each session that was created or opened here runs with, oldest first. */
	readonly #chosen = new Map<string, ChosenOptions>();
	/** Archived while this process runs: unknown from the moment on at which it was requested. */
	readonly #archived = new Set<string>();
	readonly #faults = createFaultScopes();
	/** The session whose work runs without a scope: a fault that is in no scope is taken for its own. */
	#unscoped: string | null = null;
	#isStopped = false;

	constructor(parts: SessionHostParts) {
		const { kernel, configuration, clock, log } = parts;
		const { loadedSessions, unloadAfter } = configuration.agentwire.limits;
		this.#parts = parts;
		this.#cache = new SlotCache({
			capacity: loadedSessions,
			evictAfter: unloadAfter * 1000,
			clock,
			log,
			isWorking: isRunning,
			isEvictable: async (session) => !(await mayHaveBackgroundWork(session, log)),
			unload: (id) => kernel.unload(id),
			createFullError: tooManySessions,
		});
	}

	/** A new session. Fails `model-not-set` when there is no such model, `overloaded` when too many are in use. */
	async create(request: SessionRequest): Promise<SessionHandle> {
		const { kernel, clock, identifiers, workDir } = this.#parts;
		this.#refuseArchived("");
		const id = timeOrderedUuid(clock.now(), identifiers);
		const chosen = chooseOptions(this.#parts, request);
		if (chosen.model === "") throw new KernelError("model-not-set", "LLM is not set");
		return await this.#cache.serialize(id, async () => {
			const open = () => this.#load(id, () => kernel.openOrCreate(workDir, id, chosen.options));
			const session = await withModelError(open);
			this.#chosen.set(id, chosen);
			return this.#toHandle(id, session, chosen);
		});
	}

	/** The session of this id, loaded if need be, from disk if need be. Fails `session-not-found`. */
	acquire(id: string): Promise<SessionHandle> {
		return this.#cache.serialize(id, async () => {
			this.#refuseArchived(id);
			const chosen = this.#chosen.get(id);
			if (chosen === undefined) return await this.#openStored(id);
			const { kernel, workDir } = this.#parts;
			const session = await this.#load(id, () => kernel.openOrCreate(workDir, id, chosen.options));
			return this.#toHandle(id, session, chosen);
		});
	}

	/** Those created or opened here that are not archived, oldest first. */
	list(): readonly SessionInfo[] {
		return [...this.#chosen]
			.filter(([id]) => !this.#archived.has(id))
			.map(([id, chosen]) => toInfo(id, chosen, this.#loaded(id)));
	}

	/** Cancels a running turn; fails `session-not-found`. False when there was none. */
	async interrupt(id: string): Promise<boolean> {
		this.#refuseArchived(id);
		const session = this.#loaded(id);
		if (session === null) {
			// Nothing of it runs; whether it exists has to be known all the same.
			if (!this.#chosen.has(id)) (await this.acquire(id)).release();
			return false;
		}
		if (!isRunning(session)) return false;
		await session.send({ type: "turn.cancel" });
		return true;
	}

	/** Puts a session out of sight, its running turn cancelled; its files stay. `over` is awaited after the cancel. */
	async archive(id: string, over: (session: Session) => Promise<void>): Promise<void> {
		const { session, release } = await this.acquire(id);
		try {
			// Another client may have been faster.
			this.#refuseArchived(id);
			this.#archived.add(id);
			await putAway(session, over).catch((thrown: unknown) => {
				this.#archived.delete(id);
				throw thrown;
			});
		} finally {
			release();
		}
		await this.#cache.serialize(id, async () => {
			// Its state says that it is archived from now on.
			this.#archived.delete(id);
			await this.#forget(id);
		});
	}

	/**
	 * Whose work it was that has just thrown what nobody caught; `nobody` when that cannot be told, null when there are no
	 * sessions. To be called where the fault is first heard of.
	 */
	faultOwner(): FaultOwner | null {
		if (this.#cache.slots().length === 0) return null;
		const id = this.#faults.current() ?? this.#unscoped;
		return (id === null ? null : this.#loaded(id)) ?? nobody;
	}

	/** Stops every session: running turns end as cancelled. */
	async stop(): Promise<void> {
		this.#isStopped = true;
		this.#cache.stop();
		await Promise.all(this.#cache.slots().map(({ value }) => value?.stop()));
	}

	/** Opens what an earlier process or another client left on disk. */
	async #openStored(id: string): Promise<SessionHandle> {
		const { kernel, workDir } = this.#parts;
		let chosen = choosePlainOptions(this.#parts);
		const session = await this.#load(id, () =>
			kernel.open(workDir, id, ({ creationOptions }) => {
				chosen = chooseOptionsAgain(this.#parts, id, creationOptions);
				return chosen.options;
			}),
		);
		if (session.isArchived) {
			await this.#cache.remove(id);
			throw notFound(id);
		}
		this.#chosen.set(id, chosen);
		return this.#toHandle(id, session, chosen);
	}

	async #load(id: string, open: () => Promise<Session>): Promise<Session> {
		const session = await this.#cache.load(id, () => this.#asOf(id, open));
		if (!this.#isStopped) return session;
		// It was being opened when all that was loaded was stopped.
		await session.stop();
		throw programEnds();
	}

	/** Runs work so that a fault in it is known to be the session's. The first session goes without a scope, which costs time. */
	#asOf<Result>(id: string, work: () => Result): Result {
		const isOnly = this.#chosen.size === 0 || (this.#chosen.size === 1 && this.#chosen.has(id));
		if (!isOnly) return this.#faults.within(id, work);
		this.#unscoped = id;
		return work();
	}

	#toHandle(id: string, session: Session, chosen: ChosenOptions): SessionHandle {
		this.#cache.acquire(id);
		return {
			session,
			info: toInfo(id, chosen, session),
			startTurn: async (input) => {
				this.#refuseArchived(id);
				const { runningTurns } = this.#parts.configuration.agentwire.limits;
				const running = this.#cache.slots().filter(({ value }) => value !== null && isRunning(value)).length;
				if (!isRunning(session) && running >= runningTurns) throw tooManyTurns(runningTurns);
				return await this.#asOf(id, () => session.send({ type: "turn.start", input }));
			},
			release: () => this.#cache.release(id),
			discard: async () => {
				this.#cache.release(id);
				await this.#cache.serialize(id, async () => {
					if (this.#loaded(id) !== session) return;
					// Another client may have found it meanwhile.
					if (!this.#cache.isUsed(id) && !session.snapshot().hasHistory) await this.#forget(id);
				});
			},
		};
	}

	async #forget(id: string): Promise<void> {
		this.#chosen.delete(id);
		await this.#cache.remove(id);
	}

	#loaded(id: string): Session | null {
		return this.#cache.get(id)?.value ?? null;
	}

	#refuseArchived(id: string): void {
		if (this.#archived.has(id)) throw notFound(id);
		if (this.#isStopped) throw programEnds();
	}
}

function toInfo(id: string, { model, provider }: ChosenOptions, session: Session | null): SessionInfo {
	return { id, model, provider, isRunning: session !== null && isRunning(session) };
}

async function mayHaveBackgroundWork(session: Session, log: Log): Promise<boolean> {
	try {
		return (await session.backgroundTasks()).length > 0;
	} catch (thrown) {
		log.warn("The background work of a session is not known.", { session: session.id, error: thrown });
		return true;
	}
}

/** `over` is waited for behind the cancel of its turn. */
async function putAway(session: Session, over: (session: Session) => Promise<void>): Promise<void> {
	if (isRunning(session)) await session.send({ type: "turn.cancel" });
	await over(session);
	await session.archive();
}

function isRunning(session: Session): boolean {
	return session.snapshot().turnId !== null;
}

/** Settings of which no model can be made are no defect: whoever asks for the model is told. */
async function withModelError<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		if (!(thrown instanceof ModelConfigurationError)) throw thrown;
		throw new KernelError("model-not-set", thrown.message, { cause: thrown });
	}
}

function notFound(id: string): KernelError {
	return new KernelError("session-not-found", `Session not found: ${id}`);
}

function programEnds(): KernelError {
	return new KernelError("closed", "The program is ending.");
}

function tooManyTurns(limit: number): KernelError {
	return new KernelError("overloaded", `Too many turns run at once (${limit}); start it when one has ended.`, {
		data: { limit },
	});
}

function tooManySessions(used: number, limit: number): KernelError {
	return new KernelError("overloaded", `Max sessions reached (${used}/${limit})`, { data: { limit } });
}
