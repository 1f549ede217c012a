// A stored session that several processes may have open. Reading takes nothing: the session is as it is stored. Whoever
// writes it claims it first, and then this process is the one that writes it, until another one claims it.
import type { AgentEvent } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import type { Batch, CommitOptions, SessionState, SessionStore, SessionView, StoredSession } from "./session-store.ts";

export interface SharedSession extends StoredSession {
	/** Whether this process is the one that writes it. */
	readonly isClaimed: boolean;
	/**
	 * Makes this process the one that writes it: at once, unless a turn runs in another process, then it fails `busy` and names
	 * that process. With `takesOver` that turn ends there with an error.
	 */
	claim(takesOver?: boolean): Promise<void>;
	/** Reads it again if this process does not write it and another one has written it. */
	refresh(): Promise<void>;
	/** Called whenever it was read again and is another one than before. */
	onChanged(listener: () => void): void;
	/** Called whenever another process has claimed it. */
	onLost(listener: (reason: KernelError) => void): void;
}

export interface SharedPlace {
	readonly store: SessionStore;
	readonly workDir: string;
	readonly id: string;
}

/** `view` is the session as it is read, `held` one that this process writes: exactly one of them is given. */
export function createSharedSession(
	{ store, workDir, id }: SharedPlace,
	begun: { readonly view: SessionView } | { readonly held: StoredSession },
): SharedSession {
	let view: SessionView | null = "view" in begun ? begun.view : null;
	let held: StoredSession | null = "held" in begun ? begun.held : null;
	/** The last one that was held: as long as nothing newer was read, it says how the session is. */
	let current: StoredSession = "view" in begun ? begun.view : begun.held;
	/** Changes of the state that wait for the first commit. */
	let waiting: Partial<SessionState> = {};
	/** Why it is no longer held. */
	let loss: KernelError | null = null;
	let isClosed = false;
	let claiming: Promise<void> | null = null;
	const changedListeners = new Set<() => void>();
	const lostListeners = new Set<(reason: KernelError) => void>();

	const use = (next: StoredSession): void => {
		const [before, after] = [current.cursor(), next.cursor()];
		const isSame =
			before.epoch === after.epoch &&
			before.seq === after.seq &&
			current.contextRows.length === next.contextRows.length;
		current = next;
		if (!isSame) for (const listener of changedListeners) listener();
	};
	const watch = (session: StoredSession): void => {
		void session.lost.then(async (reason) => {
			if (held !== session) return;
			held = null;
			loss = reason;
			// A claim that finds it lost gets it back.
			if (claiming === null) for (const listener of lostListeners) listener(reason);
			await session.close({ becomesLast: false });
		});
	};
	if (held !== null) watch(held);

	const runningElsewhere = async (): Promise<KernelError> => {
		const owner = (await store.owner(workDir, id)) ?? "another process";
		return new KernelError(
			"busy",
			`This session is running elsewhere: ${owner} works on a turn. Wait for its end, or take the session over, which ends that turn: start with --take-over, or set takeOver in turn.start of the gateway.`,
			{ data: { running_elsewhere: owner } },
		);
	};
	const openFrom = async (from: "ended" | "anyone"): Promise<StoredSession> => {
		const opened = await store.open(workDir, id, from, view ?? undefined);
		if (opened !== null) return opened;
		throw new KernelError("storage-failed", `The session ${id} was deleted while it was open.`);
	};
	const take = async (takesOver: boolean): Promise<StoredSession> => {
		try {
			return await openFrom("ended");
		} catch (thrown) {
			if (!(thrown instanceof KernelError) || thrown.code !== "busy") throw thrown;
		}
		await readAgain();
		if (!takesOver && current.summary.openTurn !== null) throw await runningElsewhere();
		return await openFrom("anyone");
	};
	const claim = async (takesOver: boolean): Promise<void> => {
		if (isClosed) throw new KernelError("closed", "The session is closed.");
		const before = held;
		if (before !== null) {
			if ((await before.isHeld?.()) ?? true) return;
			// Its loss is known from here on.
			await before.lost;
		}
		const next = await take(takesOver);
		held = next;
		view = null;
		watch(next);
		use(next);
	};

	async function refresh(): Promise<void> {
		if (held !== null || isClosed || claiming !== null) return await claiming?.catch(() => undefined);
		await readAgain();
	}
	async function readAgain(): Promise<void> {
		if (view !== null && (await view.isCurrent())) return;
		const next = await store.view(workDir, id);
		if (next === null || held !== null) return;
		view = next;
		use(next);
	}

	/** What runs without a claim must not claim it: it knows the session as it was before another process wrote it. */
	const writable = (): StoredSession => {
		if (held !== null) return held;
		throw loss ?? new KernelError("storage-failed", `The session ${id} is only read by this process.`);
	};

	const shared: SharedSession = {
		id,
		workDir,
		get directory() {
			return current.directory;
		},
		get existed() {
			return current.existed;
		},
		get contextRows() {
			return current.contextRows;
		},
		get summary() {
			return current.summary;
		},
		get isClaimed() {
			return held !== null;
		},
		cursor: () => current.cursor(),
		state: () => ({ ...current.state(), ...waiting }),
		async commit(batch: Batch, options: CommitOptions = {}): Promise<readonly AgentEvent[]> {
			if (held === null && options.whenClaimed === true) {
				waiting = { ...waiting, ...batch.state };
				return [];
			}
			const target = writable();
			const state = { ...waiting, ...batch.state };
			waiting = {};
			return await target.commit(Object.keys(state).length === 0 ? batch : { ...batch, state }, options);
		},
		events: (after) => current.events(after),
		get lost() {
			return current.lost;
		},
		createAgent: async (description) => writable().createAgent(description),
		openAgent: (agentId) => current.openAgent(agentId),
		tasks: {
			any: () => current.tasks.any(),
			create: async (...given) => writable().tasks.create(...given),
			list: () => current.tasks.list(),
			find: (taskId) => current.tasks.find(taskId),
		},
		notifications: {
			any: () => current.notifications.any(),
			list: () => current.notifications.list(),
			add: async (...given) => writable().notifications.add(...given),
			setDelivery: async (...given) => writable().notifications.setDelivery(...given),
		},
		warmUp: async () => current.warmUp?.(),
		markStarted: async () => writable().markStarted(),
		establish: async () => writable().establish(),
		async close(options) {
			isClosed = true;
			await claiming?.catch(() => undefined);
			await current.close(options);
		},
		async claim(takesOver = false) {
			claiming ??= claim(takesOver).finally(() => {
				claiming = null;
			});
			await claiming;
		},
		refresh,
		onChanged: (listener) => void changedListeners.add(listener),
		onLost: (listener) => void lostListeners.add(listener),
	};
	return shared;
}

/** The session of this id to be read; null when there is none. */
export async function viewShared(place: SharedPlace): Promise<SharedSession | null> {
	const view = await place.store.view(place.workDir, place.id);
	return view === null ? null : createSharedSession(place, { view });
}
