// Hosts many sessions: creates and opens them on request, unloads idle ones. The slot cache decides which are loaded, this class how
// they are opened and used. It is one class because every operation depends on the chosen, loading and removed sessions.

import type { FaultOwner, SessionHandle, SessionsApi } from "../../api/kernel.ts";
import type { ModelList } from "../../api/models.ts";
import type { ListQuery, SessionPage } from "../../api/session-list.ts";
import type { CreationOptions, ForkOptions, OpeningOptions } from "../../api/session-options.ts";
import type { SessionInfo, SkillInfo, StoredId } from "../../api/session-state.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { ForkedSession } from "../../api/values/file-changes.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { type Identifiers, isUuid } from "../../base/ids.ts";
import { timeOrderedUuid } from "../../base/time-id.ts";
import type { SessionState } from "../../ports/store/session-store.ts";
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
import { toTurnStart } from "./turn-start.ts";

export interface SessionHostParts extends CommonOptions {
	readonly kernel: Kernel;
	/** Whether loading a session ends a turn left unfinished by an ended process. */
	readonly endsInterruptedTurns?: boolean;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

type LoadedSession = SessionHandle & { readonly session: Session };

export class SessionHost implements SessionsApi {
	readonly takesEditorFiles = true;
	readonly #parts: SessionHostParts;
	readonly #cache: SlotCache<Session>;
	/** Options of each session created or opened here, oldest first. */
	readonly #chosen = new Map<string, ChosenOptions>();
	/** Sessions being archived or deleted here. Hidden as soon as that was requested. */
	readonly #gone = new Set<string>();
	readonly #faults = new FaultScopes();
	readonly #loading = new Set<string>();
	/** Sessions watched for loss of their claim. */
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

	acquire(id: string, opening: OpeningOptions = {}): Promise<LoadedSession> {
		return this.#cache.serialize(id, async () => {
			this.#refuseGone(id);
			const chosen = this.#chosen.get(id);
			if (chosen === undefined) return await this.#openStored(id, opening);
			const { kernel } = this.#parts;
			// The model may have changed since.
			const choose = ({ creationOptions }: SessionState) =>
				withStoredModel(this.#parts, chosen, creationOptions).options;
			const session = await this.#load(id, () => kernel.openOrCreate(chosen.workDir, id, choose));
			return this.#toHandle(id, session, chosen);
		});
	}

	async fork(id: string, options: ForkOptions = {}): Promise<ForkedSession> {
		const { kernel } = this.#parts;
		const forkId = await this.#newId(options.id);
		let forked: ForkedSession = { id: forkId, left: [], reasons: [] };
		const write = async (session: Session) => {
			forked = await kernel.fork(session, forkId, options);
		};
		if (await this.#visit(id, write)) return forked;
		const { session, release } = await this.acquire(id);
		try {
			await write(session);
			const chosen = this.#chosen.get(id);
			// The fork inherits this session's environment and servers, which are not stored.
			if (chosen !== undefined && options.isOpenedAnew !== true) {
				const workDir = options.files?.directory ?? chosen.workDir;
				this.#chosen.set(forkId, withStoredModel(this.#parts, { ...chosen, workDir }, session.creationOptions));
			}
			return forked;
		} finally {
			release();
		}
	}

	async loaded(): Promise<readonly SessionInfo[]> {
		return [...this.#chosen]
			.filter(([id]) => !this.#gone.has(id))
			.map(([id, chosen]) => toInfo(id, chosen, this.#loaded(id)));
	}

	list(query: ListQuery): Promise<SessionPage> {
		return this.#parts.kernel.list(query);
	}

	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]> {
		return this.#parts.kernel.readEvents(session);
	}

	models(): Promise<ModelList> {
		return withModelError(() => listModels(this.#parts));
	}

	async skills(): Promise<readonly SkillInfo[]> {
		const { kernel, workDir, options } = this.#parts;
		const { skills } = await kernel.findSkills(workDir, options.skillsDirs);
		return skills.map(({ name, description, scope }) => ({ name, description, scope }));
	}

	async skillText(name: string): Promise<string | null> {
		const { kernel, workDir, options } = this.#parts;
		return await kernel.skillText(workDir, options.skillsDirs, name);
	}

	async interrupt(id: string): Promise<boolean> {
		this.#refuseGone(id);
		const session = this.#loaded(id);
		if (session === null) {
			// No turn is running, but an unknown id must still fail.
			if (this.#chosen.has(id) || (await this.#visit(id, async () => {}))) return false;
			return await this.interrupt(id);
		}
		// Archived sessions are read-only.
		if (session.isArchived) throw notFound(id);
		if (!isRunning(session)) return false;
		await session.send({ type: "turn.cancel" });
		return true;
	}

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
			// The persisted state now marks it as archived.
			this.#gone.delete(id);
			await this.#forget(id);
		});
	}

	async unarchive(id: string): Promise<void> {
		await this.#visit(id, (session) => session.unarchive(), "archived");
	}

	async unload(id: string): Promise<void> {
		await this.#cache.evict(id);
		await this.#cache.serialize(id, async () => {
			if (this.#loaded(id) === null) await this.#forget(id);
		});
	}

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

	/** The session whose work just threw; `nobody` if unknown, null without any. Call it in the exception handler. */
	faultOwner(): FaultOwner | null {
		if (this.#cache.slots().length === 0) return null;
		const id = this.#faults.current();
		return (id === null ? null : this.#loaded(id)) ?? nobody;
	}

	async stop(): Promise<void> {
		this.#isStopped = true;
		this.#cache.stop();
		await Promise.all(this.#cache.slots().map(({ value }) => value?.stop()));
	}

	/**
	 * Runs work on a stored, unused session, without agent and tools, and unloads it: later callers acquire it with their own
	 * options. Returns false without running the work when the session is in use. Fails with `session-not-found`.
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

	/** Unloads a session unless an earlier reader still uses it. */
	async #removeUnused(id: string): Promise<void> {
		if (!this.#cache.isUsed(id)) await this.#cache.remove(id);
	}

	/** Working directory of a stored session. Falls back to the process working directory. */
	async #findWorkDir(id: string): Promise<string> {
		return (await this.#parts.kernel.workDirOf(id)) ?? this.#parts.workDir;
	}

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
		// The host stopped while the session was opening.
		await session.stop();
		throw programEnds();
	}

	/** In a worker, drops a session claimed by another process: its clients find it there. Elsewhere it stays readable. */
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

	/** Runs work and attributes its uncaught exceptions to the session. */
	#asOf<Result>(id: string, work: () => Result): Result {
		const isOnly = [this.#chosen, this.#loading].every((known) => known.size === (known.has(id) ? 1 : 0));
		return isOnly ? this.#faults.withoutScope(id, work) : this.#faults.within(id, work);
	}

	#toHandle(id: string, session: Session, chosen: ChosenOptions): LoadedSession {
		const release = this.#cache.acquire(id);
		return {
			session,
			info: toInfo(id, chosen, session),
			startTurn: async (input, options) => {
				this.#refuseGone(id);
				const start = toTurnStart(input, options);
				const { key } = start;
				if (key !== undefined && session.hasTurn(key)) return await session.send(start);
				const { runningTurns } = this.#parts.configuration.agentwire.limits;
				const running = this.#parts.kernel.runningTurns;
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

	/** Returns a read-only handle to an archived session. Releasing it unloads the session. */
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

	/** Records the model of a session for when it is unloaded. */
	#noteModel(id: string, session: Session): void {
		const chosen = this.#chosen.get(id);
		if (chosen === undefined) return;
		// A session without a turn is not stored, so remember its options here.
		const now = withStoredModel(this.#parts, chosen, session.creationOptions);
		this.#chosen.set(id, { ...now, ...session.modelInUse });
	}

	#loaded(id: string): Session | null {
		return this.#cache.get(id)?.value ?? null;
	}

	/** Returns the given id or a new one. Fails with `invalid-input` for an unusable id. */
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
