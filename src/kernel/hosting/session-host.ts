// Hosts many sessions in one process: creates and opens them as clients request, and unloads those that nobody uses
// until they are used again. The slot cache decides which are loaded; this file defines what a hosted session is opened
// with and does. It is one class because every operation depends on what the others have left chosen, loading or gone.

import type { AgentEvent } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { type Identifiers, isUuid } from "../../base/ids.ts";
import { timeOrderedUuid } from "../../base/time-id.ts";
import type { ListQuery, SessionPage, SessionState } from "../../ports/store/session-store.ts";
import type {
	CreationOptions,
	FaultOwner,
	ForkOptions,
	ModelList,
	OpeningOptions,
	SessionHandle,
	SessionInfo,
	SessionsApi,
	SkillInfo,
	StoredId,
} from "../api.ts";
import { withModelError } from "../compose/model-errors.ts";
import { nobody } from "../session/fault-owner.ts";
import type { Session } from "../session/session.ts";
import { FaultScopes } from "./fault-scopes.ts";
import { notFound, programEnds, tooManySessions, tooManyTurns } from "./host-errors.ts";
import {
	type ChosenOptions,
	type CommonOptions,
	chooseOptions,
	chooseOptionsAgain,
	choosePlainOptions,
	listModels,
	withStoredModel,
} from "./hosted-options.ts";
import { cancelAndArchive, endWork, isRunning, mayHaveBackgroundWork, toInfo } from "./hosted-session.ts";
import type { Kernel } from "./kernel.ts";
import { SlotCache } from "./slot-cache.ts";

export interface SessionHostParts extends CommonOptions {
	readonly kernel: Kernel;
	/** Whether the turn that an ended process left without an end is ended when its session is loaded. */
	readonly endsInterruptedTurns?: boolean;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

/** A handle as the kernel itself sees it. */
type LoadedSession = SessionHandle & { readonly session: Session };

export class SessionHost implements SessionsApi {
	readonly takesEditorFiles = true;
	readonly #parts: SessionHostParts;
	readonly #cache: SlotCache<Session>;
	/** The options of each session that was created or opened here, oldest first. */
	readonly #chosen = new Map<string, ChosenOptions>();
	/** Being archived or deleted by this process: unknown from the moment at which that was requested. */
	readonly #gone = new Set<string>();
	readonly #faults = new FaultScopes();
	/** The sessions that are being loaded. */
	readonly #loading = new Set<string>();
	/** The sessions whose loss is awaited. */
	readonly #watched = new WeakSet<Session>();
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
			unload: (id, session) => {
				this.#noteModel(id, session);
				return kernel.unload(id);
			},
			createFullError: tooManySessions,
		});
	}

	/** Creates a session. Fails `model-not-set` when there is no such model, `overloaded` when too many are in use. */
	async create(request: CreationOptions): Promise<LoadedSession> {
		const { kernel } = this.#parts;
		this.#refuseGone("");
		const id = await this.#newId(request.id);
		const chosen = await withModelError(() => chooseOptions(this.#parts, request));
		if (chosen.model === "") throw new KernelError("model-not-set", "LLM is not set");
		return await this.#cache.serialize(id, async () => {
			const create = () => this.#load(id, () => kernel.create(chosen.workDir, chosen.options, id, request.placement));
			const session = await withModelError(create);
			this.#chosen.set(id, chosen);
			return this.#toHandle(id, session, chosen);
		});
	}

	/** Acquires the session of this id, loading it from memory or disk if necessary. Fails `session-not-found`. */
	acquire(id: string, opening: OpeningOptions = {}): Promise<LoadedSession> {
		return this.#cache.serialize(id, async () => {
			this.#refuseGone(id);
			const chosen = this.#chosen.get(id);
			if (chosen === undefined) return await this.#openStored(id, opening);
			const { kernel } = this.#parts;
			// Another model may have been chosen since.
			const choose = ({ creationOptions }: SessionState) =>
				withStoredModel(this.#parts, chosen, creationOptions).options;
			const session = await this.#load(id, () => kernel.openOrCreate(chosen.workDir, id, choose));
			return this.#toHandle(id, session, chosen);
		});
	}

	/** Forks a session. Fails `session-not-found`, `busy` while a turn of it runs, `invalid-input` where it cannot be cut. */
	async fork(id: string, options: ForkOptions = {}): Promise<string> {
		const { kernel } = this.#parts;
		const forkId = await this.#newId(options.id);
		const write = (session: Session) => kernel.fork(session, forkId, options);
		if (await this.#visit(id, write)) return forkId;
		const { session, release } = await this.acquire(id);
		try {
			await write(session);
			const chosen = this.#chosen.get(id);
			// With the environment and the servers of this one, which are not stored.
			if (chosen !== undefined && options.isOpenedAnew !== true) {
				this.#chosen.set(forkId, withStoredModel(this.#parts, chosen, session.creationOptions));
			}
			return forkId;
		} finally {
			release();
		}
	}

	/** The sessions created or opened here that are not archived, oldest first. */
	async loaded(): Promise<readonly SessionInfo[]> {
		return [...this.#chosen]
			.filter(([id]) => !this.#gone.has(id))
			.map(([id, chosen]) => toInfo(id, chosen, this.#loaded(id)));
	}

	/** All that are stored, a page at a time. */
	list(query: ListQuery): Promise<SessionPage> {
		return this.#parts.kernel.list(query);
	}

	/** The stored events of one of those, which is not opened. */
	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.#parts.kernel.readEvents(session);
	}

	/** The models of the settings, and which of them a session without a wish gets. */
	models(): Promise<ModelList> {
		return withModelError(() => listModels(this.#parts));
	}

	/** The skills of the process's work directory. */
	async skills(): Promise<readonly SkillInfo[]> {
		const { kernel, workDir, options } = this.#parts;
		const { skills } = await kernel.findSkills(workDir, options.skillsDirs);
		return skills.map(({ name, description, scope }) => ({ name, description, scope }));
	}

	async skillText(name: string): Promise<string | null> {
		const { kernel, workDir, options } = this.#parts;
		return await kernel.skillText(workDir, options.skillsDirs, name);
	}

	/** Cancels a running turn; fails `session-not-found`. False when there was none. */
	async interrupt(id: string): Promise<boolean> {
		this.#refuseGone(id);
		const session = this.#loaded(id);
		if (session === null) {
			// It has no running turn, but an unknown id must still fail.
			if (this.#chosen.has(id) || (await this.#visit(id, async () => {}))) return false;
			return await this.interrupt(id);
		}
		// It is only there to be read.
		if (session.isArchived) throw notFound(id);
		if (!isRunning(session)) return false;
		await session.send({ type: "turn.cancel" });
		return true;
	}

	/** Archives a session, cancelling its running turn; its files stay. */
	async archive(id: string): Promise<void> {
		if (await this.#visit(id, cancelAndArchive)) return;
		const { session, release } = await this.acquire(id);
		try {
			// Another client may have archived it meanwhile.
			this.#refuseGone(id);
			this.#gone.add(id);
			await cancelAndArchive(session).catch((thrown: unknown) => {
				this.#gone.delete(id);
				throw thrown;
			});
		} finally {
			release();
		}
		await this.#cache.serialize(id, async () => {
			// From now on its persisted state marks it as archived.
			this.#gone.delete(id);
			await this.#forget(id);
		});
	}

	async unarchive(id: string): Promise<void> {
		await this.#visit(id, (session) => session.unarchive(), "archived");
	}

	/** Unloads a session that nobody uses; whoever acquires it later does so with options of their own. */
	async unload(id: string): Promise<void> {
		await this.#cache.evict(id);
		await this.#cache.serialize(id, async () => {
			if (this.#loaded(id) === null) await this.#forget(id);
		});
	}

	/** Deletes a session and all its files; nothing happens when there is none. */
	async delete(id: string): Promise<void> {
		if (this.#isStopped) throw programEnds();
		this.#gone.add(id);
		try {
			await this.#cache.serialize(id, async () => {
				const { kernel, log } = this.#parts;
				const workDir = this.#chosen.get(id)?.workDir ?? (await this.#findWorkDir(id));
				const session = this.#loaded(id);
				if (session !== null) await endWork(session, log);
				await this.#forget(id);
				await kernel.delete(workDir, id);
			});
		} finally {
			this.#gone.delete(id);
		}
	}

	/**
	 * Which session's work has just thrown an uncaught exception; `nobody` when that is unknown, null when there are no
	 * sessions. Call it in the handler of the exception.
	 */
	faultOwner(): FaultOwner | null {
		if (this.#cache.slots().length === 0) return null;
		const id = this.#faults.current();
		return (id === null ? null : this.#loaded(id)) ?? nobody;
	}

	/** Stops every session: running turns end as cancelled. */
	async stop(): Promise<void> {
		this.#isStopped = true;
		this.#cache.stop();
		await Promise.all(this.#cache.slots().map(({ value }) => value?.stop()));
	}

	/**
	 * Does something with a stored session that is not used here, and unloads it again: it runs nothing, so it needs
	 * neither its agent nor its tools, and whoever acquires it later does so with options of their own. False, with nothing
	 * done, for one that is used here. Fails `session-not-found`.
	 */
	#visit(id: string, work: (session: Session) => Promise<void>, wanted?: "archived"): Promise<boolean> {
		return this.#cache.serialize(id, async () => {
			this.#refuseGone(id);
			if (this.#chosen.has(id)) return false;
			const { kernel } = this.#parts;
			const workDir = await this.#findWorkDir(id);
			const { options } = choosePlainOptions(this.#parts, workDir, {});
			const session = await this.#load(id, () => kernel.open(workDir, id, () => options));
			try {
				if (session.isArchived && wanted === undefined) throw notFound(id);
				if (session.isArchived || wanted === undefined) await work(session);
				return true;
			} finally {
				await this.#removeUnused(id);
			}
		});
	}

	/** Unloads a session again, unless somebody reads it who came before. */
	async #removeUnused(id: string): Promise<void> {
		if (!this.#cache.isUsed(id)) await this.#cache.remove(id);
	}

	/** The work directory of a stored session; one that is in no known one may be in that of the process. */
	async #findWorkDir(id: string): Promise<string> {
		return (await this.#parts.kernel.workDirOf(id)) ?? this.#parts.workDir;
	}

	/** Opens a session that an earlier process or another client left on disk. */
	#openStored(id: string, opening: OpeningOptions): Promise<LoadedSession> {
		return withModelError(() => this.#tryToOpen(id, opening));
	}

	async #tryToOpen(id: string, opening: OpeningOptions): Promise<LoadedSession> {
		const { kernel } = this.#parts;
		const workDir = await this.#findWorkDir(id);
		let chosen = choosePlainOptions(this.#parts, workDir, opening);
		const session = await this.#load(id, () =>
			kernel.open(workDir, id, async ({ creationOptions }) => {
				chosen = await chooseOptionsAgain(this.#parts, { id, workDir, creationOptions }, opening);
				return chosen.options;
			}),
		);
		if (session.isArchived) {
			if (opening.archived === true) return this.#toReader(id, session, chosen);
			await this.#removeUnused(id);
			throw notFound(id);
		}
		this.#chosen.set(id, chosen);
		return this.#toHandle(id, session, chosen);
	}

	async #load(id: string, open: () => Promise<Session>): Promise<Session> {
		this.#loading.add(id);
		const session = await this.#cache.load(id, () => this.#asOf(id, open)).finally(() => this.#loading.delete(id));
		this.#watchLoss(id, session);
		if (!this.#isStopped) {
			if (this.#parts.endsInterruptedTurns === true) await session.endInterruptedTurn();
			return session;
		}
		// The host stopped while the session was being opened.
		await session.stop();
		throw programEnds();
	}

	/** A session of a worker that another process has claimed is dropped: its clients find it there. Elsewhere it is read on. */
	#watchLoss(id: string, session: Session): void {
		if (this.#watched.has(session)) return;
		this.#watched.add(session);
		session.onLost(async ({ message }) => {
			const { log } = this.#parts;
			log.warn("A session was taken over by another process.", { session: id, why: message });
			if (this.#parts.endsInterruptedTurns !== true) return;
			await session.stop();
			await this.#cache.serialize(id, async () => {
				if (this.#loaded(id) === session) await this.#forget(id);
			});
		});
	}

	/** Runs work so that an uncaught exception in it is attributed to the session. */
	#asOf<Result>(id: string, work: () => Result): Result {
		const isOnly = [...this.#chosen.keys(), ...this.#loading].every((known) => known === id);
		return isOnly ? this.#faults.withoutScope(id, work) : this.#faults.within(id, work);
	}

	#toHandle(id: string, session: Session, chosen: ChosenOptions): LoadedSession {
		const release = this.#cache.acquire(id);
		return {
			session,
			info: toInfo(id, chosen, session),
			startTurn: async (input, { key, takeOver, trace, ...options } = {}) => {
				this.#refuseGone(id);
				const start = {
					type: "turn.start",
					input,
					options,
					...(key === undefined ? {} : { key }),
					...(takeOver === undefined ? {} : { takeOver }),
					...(trace === undefined ? {} : { trace }),
				} as const;
				if (key !== undefined && session.hasTurn(key)) return await session.send(start);
				const { runningTurns } = this.#parts.configuration.agentwire.limits;
				const running = this.#cache.slots().filter(({ value }) => value !== null && isRunning(value)).length;
				if (!isRunning(session) && running >= runningTurns) throw tooManyTurns(runningTurns);
				return await this.#asOf(id, () => session.send(start));
			},
			release,
			discard: async () => {
				release();
				await this.#cache.serialize(id, async () => {
					if (this.#loaded(id) !== session) return;
					// Another client may have found it meanwhile.
					if (!this.#cache.isUsed(id) && !session.hasHistory) await this.#forget(id);
				});
			},
		};
	}

	/** A handle to read an archived session, which is unloaded with its release. */
	#toReader(id: string, session: Session, chosen: ChosenOptions): LoadedSession {
		const handle = this.#toHandle(id, session, chosen);
		const release = () => {
			handle.release();
			void this.unload(id);
		};
		return {
			...handle,
			startTurn: async () => {
				throw notFound(id);
			},
			release,
			discard: async () => release(),
		};
	}

	async #forget(id: string): Promise<void> {
		this.#chosen.delete(id);
		await this.#cache.remove(id);
	}

	/** What is known of a session while it is not loaded. */
	#noteModel(id: string, session: Session): void {
		const chosen = this.#chosen.get(id);
		if (chosen === undefined) return;
		// One without a turn is not stored: its options are remembered here.
		const now = withStoredModel(this.#parts, chosen, session.creationOptions);
		this.#chosen.set(id, { ...now, ...session.modelInUse });
	}

	#loaded(id: string): Session | null {
		return this.#cache.get(id)?.value ?? null;
	}

	/** An id for a session, which is the given one if there is one. Fails `invalid-input` for one that cannot be used. */
	async #newId(given: string | undefined): Promise<string> {
		const { kernel, clock, identifiers } = this.#parts;
		if (given === undefined) return timeOrderedUuid(clock.now(), identifiers);
		if (!isUuid(given)) {
			throw new KernelError("invalid-input", `The id of a new session must be a UUID, not ${JSON.stringify(given)}.`);
		}
		const isTaken = this.#chosen.has(given) || this.#gone.has(given) || (await kernel.workDirOf(given)) !== null;
		if (isTaken) throw new KernelError("invalid-input", `There is a session ${given} already.`);
		return given;
	}

	#refuseGone(id: string): void {
		if (this.#gone.has(id)) throw notFound(id);
		if (this.#isStopped) throw programEnds();
	}
}
