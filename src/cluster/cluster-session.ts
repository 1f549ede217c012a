// A front end's session: one object wherever it runs. If its process ends, another continues; clients resume after their last event.

import { type CommandOf, type CommandType, type CommandValues, commands } from "../api/commands.ts";
import type { Attachment, SessionApi, SessionHandle } from "../api/kernel.ts";
import type { AttachOptions, OpeningOptions } from "../api/session-options.ts";
import type { MessageHistory, SessionInfo, SessionSnapshot, StoredId } from "../api/session-state.ts";
import type { AgentEvent, Cursor } from "../api/values/event.ts";
import { never as neverAborts } from "../base/abort.ts";
import { sleep, systemClock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import type { RemoteKernel } from "../remote/remote-kernel.ts";
import { hasEnded, isEnding } from "./ending.ts";

export type RunningPlace = Pick<RemoteKernel, "sessions" | "lost">;

/** The session at a worker. */
export interface Used {
	readonly handle: SessionHandle;
	readonly kernel: RunningPlace;
}

export interface SessionPlaces {
	/** Runs work with a stored session where it runs, or can run. */
	atWorker<T>(sessionId: string, work: (placed: { readonly kernel: RunningPlace }) => Promise<T>): Promise<T>;
	/** Calls back when the session moves although `place` is not lost, until the signal aborts. Absent if it cannot. */
	watch?(session: StoredId, place: () => RunningPlace, onMoved: () => void, signal: AbortSignal): void;
}

export interface ClusterSessionParts {
	readonly placements: SessionPlaces;
	readonly options: OpeningOptions;
	onUnused(): void;
}

/** Milliseconds between two attempts at a worker that is ending. */
const retryPause = 250;
/** Milliseconds during which a request is retried. The last attempt may take longer: clients wait at most a minute. */
const retrySpan = 20_000;

export class ClusterSession implements SessionApi {
	readonly id: string;
	readonly #parts: ClusterSessionParts;
	#workDir: string;
	/** Stops reading each attachment's events. */
	readonly #reading = new Map<string, AbortController>();
	#using: Promise<Used> | null = null;
	/** Uses that have ended although their worker still answers. */
	readonly #givenBack = new WeakSet<Used>();
	#handles = 0;
	#isOver = false;

	constructor({ id, workDir }: StoredId, parts: ClusterSessionParts) {
		this.id = id;
		this.#workDir = workDir;
		this.#parts = parts;
	}

	get workDir(): string {
		return this.#workDir;
	}

	adopt(used: Used): void {
		this.#using = Promise.resolve(used);
	}

	/** The session at its worker. Finds a worker when there is none or it was lost. */
	async use(): Promise<Used> {
		for (;;) {
			if (this.#isOver) throw new KernelError("closed", "The program is ending.");
			const using = this.#using ?? this.#find();
			this.#using = using;
			try {
				const used = await using;
				if (!used.kernel.lost.aborted && !this.#givenBack.has(used)) return used;
			} catch (thrown) {
				this.#forget(using);
				throw thrown;
			}
			this.#forget(using);
		}
	}

	/** Current info from the worker. Fails like acquiring the session there. */
	confirm(): Promise<SessionInfo> {
		return this.#tryAgain(async ({ kernel }) => {
			const { info, release } = await kernel.sessions.acquire(this.id, this.#parts.options);
			release();
			return info;
		}, true);
	}

	toHandle(info: SessionInfo): SessionHandle {
		this.#handles += 1;
		return {
			session: this,
			info,
			startTurn: (input, options = {}) =>
				this.#run((used) => used.handle.startTurn(input, options), options.key !== undefined),
			release: () => this.#release((used) => used.handle.release()),
			discard: async () => {
				// The worker released it when the connection ended.
				if (this.#isOver) return;
				const used = await this.use();
				this.#release(() => {});
				await used.handle.discard();
			},
		};
	}

	/** Drops it when unused, because it could not be opened. */
	forgetUnused(): void {
		if (this.#handles === 0) this.#parts.onUnused();
	}

	/** Stops using it here; it continues at its worker. */
	end(): void {
		this.#isOver = true;
	}

	send<T extends CommandType>(command: CommandOf<T>): Promise<CommandValues[T]> {
		const mayRepeat = commands[command.type as T].mayRepeat(command);
		return this.#run(({ handle }) => handle.session.send(command), mayRepeat);
	}

	snapshot(): Promise<SessionSnapshot> {
		return this.#look((session) => session.snapshot());
	}

	conversation(): Promise<MessageHistory> {
		return this.#look((session) => session.conversation());
	}

	async stop(): Promise<void> {
		const { handle } = await this.use();
		await handle.session.stop();
	}

	fail(thrown: unknown): void {
		void this.#using?.then(({ handle }) => handle.session.fail(thrown)).catch(() => {});
	}

	async *events(after?: Cursor): AsyncGenerator<readonly AgentEvent[]> {
		let cursor = after;
		for (;;) {
			const { handle, kernel } = await this.use();
			try {
				for await (const batch of handle.session.events(cursor)) {
					cursor = lastOf(batch) ?? cursor;
					yield batch;
				}
				return;
			} catch (thrown) {
				if (!isLoss(thrown, kernel)) throw thrown;
			}
		}
	}

	async attach(options: AttachOptions): Promise<Attachment> {
		// The replaced attachment's events end and are not resumed.
		if (options.replaces !== undefined) this.#reading.get(options.replaces)?.abort();
		let current = await this.#attachNow(options);
		const { id, snapshot, tools } = current.attachment;
		let cursor = options.after ?? snapshot.cursor;
		const ending = new AbortController();
		this.#reading.set(id, ending);
		const { signal: ended } = ending;
		const end = () => {
			ending.abort();
			if (this.#reading.get(id) === ending) this.#reading.delete(id);
		};
		const { replaces: _, ...again } = options;
		const reattach = async (): Promise<boolean> => {
			if (ended.aborted || this.#isOver) return false;
			const { kernel } = current.used;
			const wasLost = kernel.lost.aborted;
			this.#renew(current.used);
			try {
				current = await this.#attachNow({ ...again, after: cursor });
			} catch {
				// Archived, deleted, or no worker can run it: a client that retries gets the reason.
				end();
				return false;
			}
			// If it is still there, it was stopped: only an ending worker hands it over.
			if (!wasLost && current.used.kernel === kernel) end();
			if (ended.aborted) current.attachment.close();
			return !ended.aborted;
		};
		const close = () => {
			end();
			current.attachment.close();
		};
		this.#parts.placements.watch?.(
			this,
			() => current.used.kernel,
			() => current.attachment.close(),
			ended,
		);
		const read = async function* (): AsyncGenerator<readonly AgentEvent[]> {
			do {
				for await (const batch of current.attachment.events) {
					cursor = lastOf(batch) ?? cursor;
					yield batch;
				}
			} while (await reattach());
		};
		return {
			id,
			snapshot,
			tools,
			events: { [Symbol.asyncIterator]: read },
			drained: () => current.attachment.drained(),
			close,
		};
	}

	#find(): Promise<Used> {
		const { placements, options } = this.#parts;
		return placements.atWorker(this.id, async ({ kernel }) => {
			const handle = await kernel.sessions.acquire(this.id, options);
			this.#workDir = handle.session.workDir;
			return { handle, kernel };
		});
	}

	async #attachNow(options: AttachOptions): Promise<{ readonly attachment: Attachment; readonly used: Used }> {
		return await this.#run(async (used) => ({ attachment: await used.handle.session.attach(options), used }), true);
	}

	#look<T>(work: (session: SessionApi) => Promise<T>): Promise<T> {
		return this.#run(({ handle }) => work(handle.session), true);
	}

	/** The same for a session in use here. A session that is no longer found is closed. */
	#run<T>(work: (used: Used) => Promise<T>, mayRepeat: boolean): Promise<T> {
		return this.#tryAgain(work, mayRepeat, async () => {
			try {
				return await this.use();
			} catch (thrown) {
				if (!(thrown instanceof KernelError) || thrown.code !== "session-not-found") throw thrown;
				throw new KernelError("closed", "The session is closed.", { cause: thrown });
			}
		});
	}

	/** Runs work at the worker. Retries at the next one when this one ends, or when it is lost and the work is repeatable. */
	async #tryAgain<T>(
		work: (used: Used) => Promise<T>,
		mayRepeat: boolean,
		use: () => Promise<Used> = () => this.use(),
	): Promise<T> {
		const deadline = performance.now() + retrySpan;
		for (;;) {
			const used = await use();
			try {
				return await work(used);
			} catch (thrown) {
				const data = thrown instanceof KernelError ? thrown.data : null;
				const isRefused = isEnding(data);
				if (isRefused || hasEnded(data)) await this.#moveAway(used);
				else if (!isLoss(thrown, used.kernel)) throw thrown;
				if (!isRefused && !mayRepeat) throw unknownOutcome(this.id);
				if (performance.now() >= deadline) throw thrown;
			}
			await sleep(systemClock, retryPause, neverAborts);
		}
	}

	/** Releases the session at an ending worker, so that another can take it. */
	async #moveAway(used: Used): Promise<void> {
		this.#renew(used);
		await used.kernel.sessions.unload(this.id).catch(() => {});
	}

	/** The next use searches for the session again. */
	#renew(used: Used): void {
		this.#givenBack.add(used);
		used.handle.release();
	}

	#forget(using: Promise<Used>): void {
		if (this.#using === using) this.#using = null;
	}

	#release(give: (used: Used) => void): void {
		this.#handles -= 1;
		if (this.#handles > 0) return;
		const using = this.#using;
		this.#using = null;
		this.#parts.onUnused();
		void using?.then(give).catch(() => {});
	}
}

function isLoss(thrown: unknown, kernel: RunningPlace): boolean {
	return kernel.lost.aborted && thrown instanceof KernelError && thrown.code === "closed";
}

function unknownOutcome(id: string): KernelError {
	return new KernelError(
		"closed",
		`The process that ran the session ${id} was lost before it answered: whether it did what was asked is in the session's events. A turn that is started with a key can be started again.`,
	);
}

function lastOf(batch: readonly AgentEvent[]): Cursor | null {
	const last = batch.findLast(({ seq, epoch }) => seq !== undefined && epoch !== undefined);
	return last?.seq === undefined || last.epoch === undefined ? null : { epoch: last.epoch, seq: last.seq };
}
