import type { SessionApi, SessionHandle } from "../../api/kernel.ts";
import type { OpeningOptions } from "../../api/session-options.ts";
import type { SessionInfo } from "../../api/session-state.ts";
import { KernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { HostApi } from "../shared/dialect.ts";
import { toNamedError } from "./errors.ts";
import { type ClientSide, HostedSession, type Remembered } from "./hosted-session.ts";
import { newFacts, type ReadFacts, readFacts, type SessionFacts } from "./projection/facts.ts";
import { type WaitingTurns, waitingTurnsOf } from "./turns/turn-slots.ts";

export class ClientSessions {
	readonly kernelApi: HostApi;
	readonly client: ClientSide;
	/** Turns that wait for others, including those of other connections. */
	readonly waiting: WaitingTurns;
	readonly #peer: Peer;
	/** Sessions whose events this client gets while they are loaded. */
	readonly #attached = new Map<SessionApi, Promise<HostedSession>>();
	readonly #remembered = new Map<string, Remembered>();
	readonly #turns = new Map<string, Set<Promise<void>>>();
	/** Runs requests about one session in order of arrival, so that a turn starts before its interrupt is handled. */
	readonly #lines = createKeyedQueue();

	constructor(kernelApi: HostApi, peer: Peer, client: ClientSide) {
		this.kernelApi = kernelApi;
		this.client = client;
		this.waiting = waitingTurnsOf(kernelApi.sessions);
		this.#peer = peer;
	}

	/** Resolves when every delivered event was sent. Call it after the sessions were stopped. */
	async drained(): Promise<void> {
		await Promise.all([...this.#attached.values()].map(async (attached) => (await attached).pump.drained()));
	}

	/** Runs after all earlier requests about the session. */
	inLine<T>(id: string, work: () => Promise<T>): Promise<T> {
		return concerning(id, () => this.inOrder(id, work));
	}

	inOrder<T>(id: string, work: () => Promise<T>): Promise<T> {
		return this.#lines.run(id, work);
	}

	/** Sessions of other programs have no tools here: their creator has not enabled any. */
	acquire(id: string, opening: OpeningOptions = {}): Promise<SessionHandle> {
		return this.kernelApi.sessions.acquire(id, { defaultTools: "none", ...opening });
	}

	using<T>(id: string, work: (handle: SessionHandle) => Promise<T>, opening: OpeningOptions = {}): Promise<T> {
		return this.inLine(id, async () => {
			const handle = await this.acquire(id, opening);
			return await work(handle).finally(() => handle.release());
		});
	}

	/** Like `using`, after all turns requested before and any turn of another client. */
	async whenOver<T>(id: string, work: (handle: SessionHandle) => Promise<T>): Promise<T> {
		return await concerning(id, () => this.waiting.queue.run(id, () => this.whenIdle(id, () => this.using(id, work))));
	}

	async whenIdle<T>(id: string, begin: () => Promise<T>): Promise<T> {
		for (;;) {
			try {
				return await begin();
			} catch (thrown) {
				if (toNamedError(thrown, id).code !== "SESSION_BUSY") throw thrown;
			}
			const handle = await this.acquire(id);
			try {
				const { pump } = await this.attach(handle);
				const { ended } = await pump.follow(async () => (await handle.session.snapshot()).turnId);
				await ended;
			} finally {
				handle.release();
			}
		}
	}

	attach(handle: SessionHandle): Promise<HostedSession> {
		const { session } = handle;
		const known = this.#attached.get(session);
		if (known !== undefined) return known;
		const attaching = this.#readAgain(session).then((remembered) =>
			HostedSession.attach(handle, this.kernelApi, this.#peer, this.client, remembered),
		);
		this.#attached.set(session, attaching);
		const forget = () => void this.#attached.delete(session);
		// The events end when the session is unloaded.
		attaching.then((hosted) => hosted.pump.drained().then(forget), forget);
		return attaching;
	}

	noteNew(id: string): void {
		this.#remembered.set(id, { facts: newFacts(this.client.now()), cursor: null, sequence: 0 });
	}

	/** The session's facts, kept up to date from its events, or read from its log while this client does not get them. */
	async remember({ session }: SessionHandle): Promise<Remembered> {
		await this.#attached.get(session)?.catch(() => {});
		const known = this.#attached.has(session) ? this.#remembered.get(session.id) : undefined;
		return known ?? (await this.#readAgain(session));
	}

	/** The session's facts, read from the log unless a turn runs here: another process may have written to it. */
	async factsNow(info: SessionInfo): Promise<SessionFacts> {
		const known = this.#remembered.get(info.id);
		if (known !== undefined && info.isRunning && this.followed().has(info.id)) return known.facts;
		const read = await readFacts(this.kernelApi.sessions.storedEvents(info), this.#beginning(info.id));
		// The stored events lack what is older than the journal.
		if (known !== undefined) Object.assign(known, { facts: read.facts, cursor: null });
		return read.facts;
	}

	followed(): ReadonlySet<string> {
		return new Set([...this.#attached.keys()].map(({ id }) => id));
	}

	/** Others may have used the session meanwhile. */
	async #readAgain(session: SessionApi): Promise<Remembered> {
		const remembered = this.#remembered.get(session.id);
		const read = await this.#readOn(session, remembered?.cursor == null ? null : remembered);
		const known = Object.assign(remembered ?? { sequence: 0 }, read);
		this.#remembered.set(session.id, known);
		return known;
	}

	async #readOn(session: SessionApi, known: Remembered | null): Promise<ReadFacts> {
		try {
			return await readFacts(session.events(known?.cursor ?? undefined), this.#beginning(session.id), known);
		} catch (thrown) {
			const isRewritten = thrown instanceof KernelError && thrown.code === "invalid-input";
			if (known === null || !isRewritten) throw thrown;
			return await this.#readOn(session, null);
		}
	}

	knownFactsOf(id: string): SessionFacts | null {
		return this.#remembered.get(id)?.facts ?? null;
	}

	factsOf(id: string): SessionFacts {
		return this.knownFactsOf(id) ?? newFacts(this.client.now());
	}

	/** When a session with an empty log began. */
	#beginning(id: string): number {
		return this.knownFactsOf(id)?.createdAt ?? this.client.now();
	}

	forget(id: string): void {
		this.#remembered.delete(id);
	}

	noteTurn(id: string, answered: Promise<void>): void {
		const turns = this.#turns.get(id) ?? new Set();
		this.#turns.set(id, turns.add(answered));
		void answered.then(() => {
			turns.delete(answered);
			if (turns.size === 0 && this.#turns.get(id) === turns) this.#turns.delete(id);
		});
	}

	turnsAnswered(id: string): Promise<unknown> {
		return Promise.all([...(this.#turns.get(id) ?? [])]);
	}
}

/** Adds the session id to errors. */
export async function concerning<T>(id: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		throw toNamedError(thrown, id);
	}
}
