// Finds the worker that runs a session, or one that takes it.

import type { Placement } from "../api/session-list.ts";
import { never } from "../base/abort.ts";
import { type Clock, createDeadline, type Deadline, sleep } from "../base/clock.ts";
import { errorText, KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { RemoteKernel } from "../remote/remote-kernel.ts";
import { remoteVersion } from "../remote/remote-version.ts";
import type { WorkerConnections } from "./connections.ts";
import { hasEnded, isEnding } from "./ending.ts";
import { placedChannel, type Registry, type WorkerPlace } from "./registry.ts";
import { announcesOther } from "./worker-version.ts";

/** Default milliseconds to search for a worker. */
export const usualPatience = 20_000;
/** Milliseconds between two polls of a request; a notification polls immediately. */
const lookInterval = 250;

export interface PlacementParts {
	readonly registry: Registry;
	readonly connections: WorkerConnections;
	processId(): Promise<string>;
	readonly patience?: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** A worker with a connection to it. */
export interface Placed {
	readonly worker: WorkerPlace;
	readonly kernel: RemoteKernel;
}

/** Work at a worker, retried at another after a temporary failure. */
interface Search<T> {
	find(): Promise<Placed>;
	work(placed: Placed): Promise<T>;
	/** `placed` is null for a failure before a worker was found. */
	mayRepeat(thrown: KernelError, placed: Placed | null): boolean;
	/** Session id; null for a new session. */
	readonly session: string | null;
	readonly deadline: Deadline;
}

export class Placements {
	readonly #parts: PlacementParts;
	readonly #waiting = new Map<string, () => void>();
	#isListening = false;

	constructor(parts: PlacementParts) {
		this.#parts = parts;
	}

	/** Creates a session at a worker that takes it, trying others if it is unreachable or ending; else `overloaded`. */
	placeNew<T>(needs: Placement, make: (placed: Placed) => Promise<T>): Promise<T> {
		const mayRepeat = ({ code, data }: KernelError, placed: Placed | null) =>
			placed === null ? code === "closed" : isEnding(data);
		return this.#inTime((deadline) =>
			this.#tryAgain({ find: () => this.#ask(needs, deadline), work: make, mayRepeat, session: null, deadline }),
		);
	}

	/** `work` must be repeatable: a lost or ending worker is replaced. Fails with `session-not-found` or `overloaded`. */
	atWorker<T>(sessionId: string, work: (placed: Placed) => Promise<T>): Promise<T> {
		return this.#inTime((deadline) => {
			const find = () => this.#findOrPlace(sessionId, deadline);
			return this.#tryAgain({ find, work, mayRepeat: isPassing, session: sessionId, deadline });
		});
	}

	/** The worker that currently has the session, or null. Fails with `session-not-found`. */
	async current(sessionId: string): Promise<Placed | null> {
		const place = await this.#parts.registry.find(sessionId);
		if (place === null) throw new KernelError("session-not-found", `Session not found: ${sessionId}`);
		return place.worker === null ? null : await this.#reach(place.worker);
	}

	async #tryAgain<T>({ find, work, mayRepeat, session, deadline }: Search<T>): Promise<T> {
		const { log, clock, connections } = this.#parts;
		let failure: KernelError | null = null;
		for (;;) {
			let placed: Placed | null = null;
			try {
				placed = await find();
				return await work(placed);
			} catch (thrown) {
				if (!(thrown instanceof KernelError)) throw thrown;
				// The failure of the worker that took it is more specific than that no other takes it.
				if (thrown.code === "overloaded" && failure !== null) throw failure;
				if (connections.isClosed || !mayRepeat(thrown, placed)) throw thrown;
				failure = thrown;
			}
			log.info("A session is looked for again.", { session, why: failure.message });
			if (deadline.isOver) throw failure;
			await sleep(clock, lookInterval, never);
		}
	}

	async #findOrPlace(sessionId: string, deadline: Deadline): Promise<Placed> {
		const { registry } = this.#parts;
		const place = await registry.find(sessionId);
		if (place === null) throw new KernelError("session-not-found", `Session not found: ${sessionId}`);
		if (place.worker !== null) return await this.#reach(place.worker);
		if (place.holder !== null) {
			throw new KernelError("busy", `The session ${sessionId} is open in another process, ${place.holder}.`, {
				data: { holder: place.holder },
			});
		}
		return await this.#ask(place, deadline);
	}

	async #reach(worker: WorkerPlace): Promise<Placed> {
		return { worker, kernel: await this.#parts.connections.reach(worker) };
	}

	async #ask(needs: Placement, deadline: Deadline): Promise<Placed> {
		const { registry, processId, log } = this.#parts;
		this.#listen();
		let askedBy = await processId();
		let request = await registry.ask(needs, askedBy);
		try {
			for (;;) {
				const id = await processId();
				if (id !== askedBy) {
					// This process has lost its lease, and workers ignore requests of ended processes.
					await this.#withdraw(request);
					askedBy = id;
					request = await registry.ask(needs, askedBy);
				}
				const worker = await registry.answer(request);
				if (worker !== null) {
					try {
						return await this.#reach(worker);
					} catch (thrown) {
						log.warn("A worker that took a session cannot be reached.", {
							worker: worker.id,
							cause: errorText(thrown),
						});
						throw thrown;
					}
				}
				if (deadline.isOver) throw whyNot(needs, await registry.workers());
				await this.#nextLook(request);
			}
		} finally {
			await this.#withdraw(request);
		}
	}

	async #withdraw(request: string): Promise<void> {
		const { registry, log } = this.#parts;
		await registry.withdraw(request).catch((thrown: unknown) => {
			log.info("A request for a worker was not withdrawn.", { request, cause: errorText(thrown) });
		});
	}

	async #nextLook(request: string): Promise<void> {
		const early = new AbortController();
		this.#waiting.set(request, () => early.abort());
		await sleep(this.#parts.clock, lookInterval, early.signal);
		this.#waiting.delete(request);
	}

	#listen(): void {
		if (this.#isListening) return;
		this.#isListening = true;
		this.#parts.registry.listen(placedChannel, (request) => {
			if (request === null) for (const look of this.#waiting.values()) look();
			else this.#waiting.get(request)?.();
		});
	}

	async #inTime<T>(work: (deadline: Deadline) => Promise<T>): Promise<T> {
		const { clock, patience = usualPatience } = this.#parts;
		const deadline = createDeadline(clock, patience);
		try {
			return await work(deadline);
		} finally {
			deadline.withdraw();
		}
	}
}

/** Whether a retry may find a worker: the current one is lost, ending (in any version), or lost the session to another. */
function isPassing({ code, data }: KernelError, placed: Placed | null): boolean {
	if (placed === null) return code === "closed" || isEnding(data);
	return (
		(code === "closed" && (placed.kernel.lost.aborted || isEnding(data) || hasEnded(data))) ||
		(code === "busy" && namesHolder(data))
	);
}

function namesHolder(data: unknown): boolean {
	return typeof data === "object" && data !== null && "holder" in data;
}

export function whyNot({ needs }: Pick<Placement, "needs">, workers: readonly WorkerPlace[]): KernelError {
	const taking = workers.filter(({ isEnding: ends }) => !ends);
	if (taking.length === 0) {
		return new KernelError("overloaded", "No worker runs: start one with `agentwire worker` and the same [store].", {
			data: { workers: 0 },
		});
	}
	const usable = taking.filter((worker) => !announcesOther(worker));
	const count = { workers: usable.length };
	if (usable.length === 0) {
		return new KernelError(
			"overloaded",
			`No worker runs that speaks version ${remoteVersion} of the protocol, as this gateway does. Versions of the workers: ${taking.map(({ id, remoteVersion: theirs }) => `${id}: ${theirs}`).join("; ")}. Start one of this gateway's version (docs/guides/scale.md, Upgrading).`,
			{ data: count },
		);
	}
	const missing = unmet(needs, usable);
	if (missing !== null) return new KernelError("overloaded", missing, { data: { ...count, needs } });
	return new KernelError(
		"overloaded",
		`All workers are full (${usable.length}); try again when a session is no longer used, or start another worker.`,
		{ data: count },
	);
}

/** Why no worker can serve these tags; null when one can. */
export function unmet(needs: readonly string[], workers: readonly WorkerPlace[]): string | null {
	if (workers.some(({ tags }) => needs.every((tag) => tags.includes(tag)))) return null;
	const known = workers.map(({ id, tags }) => `${id}: ${tags.length === 0 ? "none" : tags.join(", ")}`).join("; ");
	return `No worker has what the session needs (${needs.join(", ")}). Tags of the workers: ${known}.`;
}
