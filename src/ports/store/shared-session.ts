// A stored session open in several processes. Reading needs no claim; the last process to claim it is its only writer.
import type { AgentEvent } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import type { HistoryPlace } from "../workspace/history-place.ts";
import type { Batch, CommitOptions, SessionState, SessionStore, SessionView, StoredSession } from "./session-store.ts";

export interface SharedSession extends StoredSession {
	readonly isClaimed: boolean;
	/** Makes this process the writer. Fails `busy` while a turn runs elsewhere, unless `takesOver` ends that turn. */
	claim(takesOver?: boolean): Promise<void>;
	/** Reads the session again if another process has written it. */
	refresh(): Promise<void>;
	onChanged(listener: () => void): void;
	/** Called when another process has claimed the session. */
	onLost(listener: (reason: KernelError) => void): void;
}

export interface SharedPlace {
	readonly store: SessionStore;
	readonly workDir: string;
	readonly id: string;
}

/** The initial state: read-only, or already claimed by this process. */
type Begun = { readonly view: SessionView } | { readonly held: StoredSession };

export function createSharedSession(place: SharedPlace, begun: Begun): SharedSession {
	const claim = new Claim(place, begun);
	/** State changes waiting for the first commit. */
	let waiting: Partial<SessionState> = {};
	return {
		id: place.id,
		workDir: place.workDir,
		get directory() {
			return claim.current.directory;
		},
		historyPlace: currentPlace(claim),
		get existed() {
			return claim.current.existed;
		},
		get contextRows() {
			return claim.current.contextRows;
		},
		get summary() {
			return claim.current.summary;
		},
		get isClaimed() {
			return claim.isHeld;
		},
		cursor: () => claim.current.cursor(),
		state: () => ({ ...claim.current.state(), ...waiting }),
		async commit(batch: Batch, options: CommitOptions = {}): Promise<readonly AgentEvent[]> {
			if (!claim.isHeld && options.whenClaimed === true) {
				waiting = { ...waiting, ...batch.state };
				return [];
			}
			const target = claim.writable();
			const state = { ...waiting, ...batch.state };
			waiting = {};
			return await target.commit(Object.keys(state).length === 0 ? batch : { ...batch, state }, options);
		},
		events: (after) => claim.current.events(after),
		get lost() {
			return claim.current.lost;
		},
		createAgent: async (description) => claim.writable().createAgent(description),
		openAgent: (agentId) => claim.current.openAgent(agentId),
		tasks: {
			any: () => claim.current.tasks.any(),
			create: async (...given) => claim.writable().tasks.create(...given),
			list: () => claim.current.tasks.list(),
			find: (taskId) => claim.current.tasks.find(taskId),
		},
		notifications: {
			any: () => claim.current.notifications.any(),
			list: () => claim.current.notifications.list(),
			add: async (...given) => claim.writable().notifications.add(...given),
			setDelivery: async (...given) => claim.writable().notifications.setDelivery(...given),
		},
		warmUp: async () => claim.current.warmUp?.(),
		markStarted: async () => claim.writable().markStarted(),
		establish: async () => claim.writable().establish(),
		close: (options) => claim.close(options),
		claim: (takesOver = false) => claim.take(takesOver),
		refresh: () => claim.refresh(),
		onChanged: (listener) => void claim.changedListeners.add(listener),
		onLost: (listener) => void claim.lostListeners.add(listener),
	};
}

/** The place of whichever copy is current. */
function currentPlace(claim: Claim): HistoryPlace | undefined {
	const first = claim.current.historyPlace;
	if (first === undefined) return undefined;
	const place = () => claim.current.historyPlace ?? first;
	return {
		read: () => place().read(),
		content: (id) => place().content(id),
		put: (id, packed) => place().put(id, packed),
		replace: (saved) => place().replace(saved),
	};
}

/** Opens the session for reading; null if it does not exist. */
export async function viewShared(place: SharedPlace): Promise<SharedSession | null> {
	const view = await place.store.view(place.workDir, place.id);
	return view === null ? null : createSharedSession(place, { view });
}

/** Tracks the writer of a session, and this process's copy of it. */
class Claim {
	readonly changedListeners = new Set<() => void>();
	readonly lostListeners = new Set<(reason: KernelError) => void>();
	readonly #place: SharedPlace;
	#view: SessionView | null = null;
	#held: StoredSession | null = null;
	#current: StoredSession;
	#loss: KernelError | null = null;
	#isClosed = false;
	#taking: Promise<void> | null = null;

	constructor(place: SharedPlace, begun: Begun) {
		this.#place = place;
		if ("view" in begun) {
			this.#view = begun.view;
			this.#current = begun.view;
		} else {
			this.#current = begun.held;
			this.#hold(begun.held);
		}
	}

	get current(): StoredSession {
		return this.#current;
	}

	get isHeld(): boolean {
		return this.#held !== null;
	}

	/** Throws unless the session is held: other processes may have written since. */
	writable(): StoredSession {
		if (this.#held !== null) return this.#held;
		const why = `The session ${this.#place.id} is only read by this process.`;
		throw this.#loss ?? new KernelError("storage-failed", why);
	}

	async take(takesOver: boolean): Promise<void> {
		this.#taking ??= this.#take(takesOver).finally(() => {
			this.#taking = null;
		});
		await this.#taking;
	}

	async refresh(): Promise<void> {
		if (this.#taking !== null) await this.#taking.catch(() => undefined);
		else if (this.#held === null && !this.#isClosed) await this.#readAgain();
	}

	async close(options?: { readonly becomesLast?: boolean }): Promise<void> {
		this.#isClosed = true;
		await this.#taking?.catch(() => undefined);
		await this.#current.close(options);
	}

	async #take(takesOver: boolean): Promise<void> {
		if (this.#isClosed) throw new KernelError("closed", "The session is closed.");
		const before = this.#held;
		if (before !== null) {
			if ((await before.isHeld?.()) ?? true) return;
			await before.lost;
		}
		const next = await this.#openToWrite(takesOver);
		this.#view = null;
		this.#hold(next);
		this.#use(next);
	}

	async #openToWrite(takesOver: boolean): Promise<StoredSession> {
		try {
			return await this.#open("ended");
		} catch (thrown) {
			if (!(thrown instanceof KernelError) || thrown.code !== "busy") throw thrown;
		}
		await this.#readAgain();
		if (!takesOver && this.#current.summary.openTurn !== null) throw await this.#runningElsewhere();
		return await this.#open("anyone");
	}

	async #open(from: "ended" | "anyone"): Promise<StoredSession> {
		const { store, workDir, id } = this.#place;
		const opened = await store.open(workDir, id, from, this.#view ?? undefined);
		if (opened !== null) return opened;
		throw new KernelError("storage-failed", `The session ${id} was deleted while it was open.`);
	}

	async #runningElsewhere(): Promise<KernelError> {
		const { store, workDir, id } = this.#place;
		const owner = (await store.owner(workDir, id))?.name ?? "another process";
		return new KernelError(
			"busy",
			`This session is running elsewhere: ${owner} works on a turn. Wait for its end, or take the session over, which ends that turn: start with --take-over, or set takeOver in turn.start of the gateway.`,
			{ data: { running_elsewhere: owner } },
		);
	}

	#hold(session: StoredSession): void {
		this.#held = session;
		void session.lost.then(async (reason) => {
			if (this.#held !== session) return;
			this.#held = null;
			this.#loss = reason;
			// A claim in progress that finds the session lost takes it back.
			if (this.#taking === null) for (const listener of this.lostListeners) listener(reason);
			await session.close({ becomesLast: false });
		});
	}

	async #readAgain(): Promise<void> {
		const { store, workDir, id } = this.#place;
		if (this.#view !== null && (await this.#view.isCurrent())) return;
		const next = await store.view(workDir, id);
		if (next === null || this.#held !== null) return;
		this.#view = next;
		this.#use(next);
	}

	#use(next: StoredSession): void {
		const [before, after] = [this.#current.cursor(), next.cursor()];
		const isSame =
			(next.reading !== undefined && next.reading === this.#current.reading) ||
			(before.epoch === after.epoch &&
				before.seq === after.seq &&
				this.#current.contextRows.length === next.contextRows.length);
		this.#current = next;
		if (!isSame) for (const listener of this.changedListeners) listener();
	}
}
