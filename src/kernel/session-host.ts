// Many sessions in one process: made and opened as clients ask, unloaded when nobody uses them, loaded again on use.
// What concerns one session happens one after another; sessions never wait for each other.
import type { Clock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import type { Identifiers } from "../base/ids.ts";
import { createKeyedQueue } from "../base/keyed-queue.ts";
import { timeOrderedUuid } from "../base/time-id.ts";
import type { UserInput } from "../events/content.ts";
import { ModelConfigurationError } from "../models/model-settings.ts";
import {
	type ChosenOptions,
	type CommonOptions,
	chooseOptions,
	chooseOptionsAgain,
	choosePlainOptions,
	type SessionRequest,
} from "./hosted-options.ts";
import type { Kernel } from "./kernel.ts";
import type { Session } from "./session.ts";

/** What is known of a session without loading it. */
export interface SessionInfo {
	readonly id: string;
	/** The name sent to the provider, and the provider's key; empty when there is none. */
	readonly model: string;
	readonly provider: string;
	readonly isRunning: boolean;
}

/** A loaded session, kept loaded until it is released. */
export interface SessionHold {
	readonly session: Session;
	readonly info: SessionInfo;
	/** Starts a turn; fails `busy`, and `overloaded` when too many run. */
	startTurn(input: UserInput): Promise<{ readonly turnId: string }>;
	/** To be called once. */
	release(): void;
	/** In its place, for a session that was made for a turn and could not begin it: there is no such session then. */
	discard(): Promise<void>;
}

/** The sessions of a process that has many. */
export interface SessionHost {
	/** A new session. Fails `model-not-set` when there is no such model, `overloaded` when too many are in use. */
	create(request: SessionRequest): Promise<SessionHold>;
	/** The session of this id, loaded if need be, from disk if need be. Fails `session-not-found`. */
	hold(id: string): Promise<SessionHold>;
	/** Those made or opened here that are not archived, oldest first. */
	list(): readonly SessionInfo[];
	/** Cancels a running turn; fails `session-not-found`. False when there was none. */
	interrupt(id: string): Promise<boolean>;
	/** Puts a session out of sight, its running turn cancelled; its files stay. `over` is waited for behind the cancel. */
	archive(id: string, over: (session: Session) => Promise<void>): Promise<void>;
	/** Stops every session: running turns end as cancelled. */
	stop(): Promise<void>;
}

export interface SessionHostParts extends CommonOptions {
	readonly kernel: Kernel;
	readonly workDir: string;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

interface Hosted {
	readonly id: string;
	chosen: ChosenOptions;
	session: Session | null;
	/** Whether it is being looked at to unload it. */
	isLeaving: boolean;
	/** How many use it at the moment. */
	holds: number;
	/** Counts up with every use. */
	lastUse: number;
	withdrawUnload: (() => void) | null;
}

export function createSessionHost(parts: SessionHostParts): SessionHost {
	const { kernel, configuration, clock, identifiers, workDir, log } = parts;
	const { limits } = configuration.agentwire;
	const lines = createKeyedQueue();
	const placeLine = createKeyedQueue();
	const known = new Map<string, Hosted>();
	/** Archived while this process runs: unknown from the moment on at which it was asked for. */
	const archived = new Set<string>();
	let places = 0;
	/** What may leave a place soon. */
	const leaving = new Set<Promise<void>>();
	let uses = 0;
	let isStopped = false;

	const toInfo = ({ id, chosen, session }: Hosted): SessionInfo => ({
		id,
		model: chosen.model,
		provider: chosen.provider,
		isRunning: isRunning(session),
	});

	const toHosted = (id: string, chosen: ChosenOptions): Hosted => ({
		id,
		chosen,
		session: null,
		isLeaving: false,
		holds: 0,
		lastUse: 0,
		withdrawUnload: null,
	});

	/**
	 * Takes one of the places for loaded sessions, from an idle session if need be: whoever comes first is served first.
	 * It waits for no session that could wait for a place itself.
	 */
	const takePlace = async (): Promise<void> => {
		/** Idle ones that could not be unloaded. */
		const inVain = new Set<Hosted>();
		while (true) {
			// The next in line need not wait while a session leaves for this one.
			const found = await placeLine.run("", () => findPlace(inVain));
			if (found.leaver === null || (await found.hasLeft)) return;
			inVain.add(found.leaver);
		}
	};

	/** Takes a free place, or the one of a session that is on its way out for it then. */
	const findPlace = async (inVain: ReadonlySet<Hosted>) => {
		while (places >= limits.loadedSessions) {
			const idle = [...known.values()].filter((hosted) => isIdle(hosted) && !inVain.has(hosted));
			const leaver =
				idle.length === 0 ? null : idle.reduce((one, other) => (other.lastUse < one.lastUse ? other : one));
			if (leaver !== null) return { leaver, hasLeft: unload(leaver, true) };
			// What is on its way out may leave a place soon.
			if (leaving.size > 0) await Promise.race(leaving);
			else {
				const { loadedSessions: limit } = limits;
				throw new KernelError("overloaded", `Max sessions reached (${places}/${limit})`, { data: { limit } });
			}
		}
		places += 1;
		return { leaver: null };
	};

	const load = async (hosted: Hosted, open: () => Promise<Session>): Promise<void> => {
		if (hosted.session !== null) return;
		await takePlace();
		try {
			hosted.session = await open();
		} catch (thrown) {
			places -= 1;
			throw thrown;
		}
		if (!isStopped) return;
		// It was on its way when all that was there was stopped.
		await hosted.session.stop();
		throw programEnds();
	};

	/** Gives its place free, also when its end could not be kept, or leaves it to whoever it is promised to. */
	const giveUp = async (hosted: Hosted, isPlacePromised: boolean): Promise<void> => {
		hosted.session = null;
		hosted.withdrawUnload?.();
		const left = kernel.unload(hosted.id).catch((thrown: unknown) => {
			log.error("A session could not be unloaded.", { session: hosted.id, error: thrown });
		});
		const freed = left.then(() => {
			if (!isPlacePromised) places -= 1;
		});
		await inLeaving(freed);
	};

	const inLeaving = async <T>(work: Promise<T>): Promise<T> => {
		// Whoever waits for it looks again, whatever came of it.
		const over = work.then(
			() => {},
			() => {},
		);
		leaving.add(over);
		try {
			return await work;
		} finally {
			leaving.delete(over);
		}
	};

	/** Whether it was unloaded: only what nobody uses and what has no work in the background. */
	const unload = async (hosted: Hosted, isPlacePromised: boolean): Promise<boolean> => {
		if (!isIdle(hosted)) return false;
		// Nobody else waits for this, behind whom somebody may load it again.
		hosted.isLeaving = true;
		try {
			return await inLeaving(
				lines.run(hosted.id, async () => {
					const { session } = hosted;
					if (session === null || isUsed(hosted) || (await mayHaveBackgroundWork(session))) return false;
					await giveUp(hosted, isPlacePromised);
					return true;
				}),
			);
		} finally {
			hosted.isLeaving = false;
		}
	};

	const mayHaveBackgroundWork = async (session: Session): Promise<boolean> => {
		try {
			return (await session.backgroundTasks()).length > 0;
		} catch (thrown) {
			log.warn("The background work of a session is not known.", { session: session.id, error: thrown });
			return true;
		}
	};

	const scheduleUnload = (hosted: Hosted): void => {
		hosted.withdrawUnload?.();
		hosted.withdrawUnload = null;
		if (limits.unloadAfter === 0 || isStopped) return;
		hosted.withdrawUnload = clock.after(limits.unloadAfter * 1000, () => {
			unload(hosted, false)
				.then((isUnloaded) => {
					if (!isUnloaded && isIdle(hosted)) scheduleUnload(hosted);
				})
				.catch((thrown: unknown) =>
					log.error("A session could not be unloaded.", { session: hosted.id, error: thrown }),
				);
		});
	};

	const toHold = (hosted: Hosted, session: Session): SessionHold => {
		hosted.holds += 1;
		uses += 1;
		hosted.lastUse = uses;
		hosted.withdrawUnload?.();
		return {
			session,
			info: toInfo(hosted),
			startTurn: async (input) => {
				refuseArchived(hosted.id);
				const running = [...known.values()].filter((each) => isRunning(each.session)).length;
				if (!isRunning(session) && running >= limits.runningTurns) throw tooManyTurns(limits.runningTurns);
				return await session.send({ type: "turn.start", input });
			},
			release() {
				hosted.holds -= 1;
				if (hosted.holds === 0) scheduleUnload(hosted);
			},
			async discard() {
				hosted.holds -= 1;
				await lines.run(hosted.id, async () => {
					if (hosted.session !== session) return;
					// Somebody may have found it meanwhile.
					if (isUsed(hosted) || session.snapshot().hasHistory) return scheduleUnload(hosted);
					known.delete(hosted.id);
					await giveUp(hosted, false);
				});
			},
		};
	};

	const refuseArchived = (id: string): void => {
		if (archived.has(id)) throw notFound(id);
		if (isStopped) throw programEnds();
	};

	/** Opens what an earlier process or another client left on disk. */
	const openStored = async (id: string): Promise<Hosted> => {
		const hosted = toHosted(id, choosePlainOptions(parts));
		await load(hosted, () =>
			kernel.open(workDir, id, ({ madeWith }) => {
				hosted.chosen = chooseOptionsAgain(parts, id, madeWith);
				return hosted.chosen.options;
			}),
		);
		if (hosted.session?.isArchived === true) {
			await giveUp(hosted, false);
			throw notFound(id);
		}
		known.set(id, hosted);
		return hosted;
	};

	const hold = (id: string): Promise<SessionHold> =>
		lines.run(id, async () => {
			refuseArchived(id);
			const hosted = known.get(id) ?? (await openStored(id));
			await load(hosted, () => kernel.openOrCreate(workDir, id, hosted.chosen.options));
			if (hosted.session === null) throw notFound(id);
			return toHold(hosted, hosted.session);
		});

	return {
		async create(request) {
			refuseArchived("");
			const id = timeOrderedUuid(clock.now(), identifiers);
			const hosted = toHosted(id, chooseOptions(parts, request));
			if (hosted.chosen.model === "") throw new KernelError("model-not-set", "LLM is not set");
			return await lines.run(id, async () => {
				await withModelError(() => load(hosted, () => kernel.openOrCreate(workDir, id, hosted.chosen.options)));
				if (hosted.session === null) throw notFound(id);
				known.set(id, hosted);
				return toHold(hosted, hosted.session);
			});
		},
		hold,
		list: () => [...known.values()].filter(({ id }) => !archived.has(id)).map(toInfo),
		async interrupt(id) {
			refuseArchived(id);
			const session = known.get(id)?.session ?? null;
			if (session === null) {
				// Nothing of it runs; whether it is there has to be known all the same.
				if (!known.has(id)) (await hold(id)).release();
				return false;
			}
			if (!isRunning(session)) return false;
			await session.send({ type: "turn.cancel" });
			return true;
		},
		async archive(id, over) {
			const { session, release } = await hold(id);
			try {
				// Another may have been faster.
				refuseArchived(id);
				archived.add(id);
				await putAway(session, over).catch((thrown: unknown) => {
					archived.delete(id);
					throw thrown;
				});
			} finally {
				release();
			}
			await lines.run(id, async () => {
				const hosted = known.get(id);
				known.delete(id);
				// Its state says so from now on.
				archived.delete(id);
				// Somebody who needed a place may have been faster.
				if (hosted !== undefined && hosted.session !== null) await giveUp(hosted, false);
			});
		},
		async stop() {
			isStopped = true;
			const loaded = [...known.values()];
			for (const { withdrawUnload } of loaded) withdrawUnload?.();
			await Promise.all(loaded.map(({ session }) => session?.stop()));
		},
	};
}

/** `over` is waited for behind the cancel of its turn. */
async function putAway(session: Session, over: (session: Session) => Promise<void>): Promise<void> {
	if (isRunning(session)) await session.send({ type: "turn.cancel" });
	await over(session);
	await session.archive();
}

function isIdle(hosted: Hosted): boolean {
	return hosted.session !== null && !hosted.isLeaving && !isUsed(hosted);
}

function isUsed({ session, holds }: Hosted): boolean {
	return holds > 0 || isRunning(session);
}

function isRunning(session: Session | null): boolean {
	return session !== null && session.snapshot().turnId !== null;
}

/** Settings of which no model can be made are no defect: whoever asks for the model is told. */
async function withModelError(work: () => Promise<void>): Promise<void> {
	try {
		await work();
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
