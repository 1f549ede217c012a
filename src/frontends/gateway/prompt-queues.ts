// After a finished turn the next prompt starts; after a failed or stopped turn they wait for a user.

import type { Attachment, SessionHandle, SessionsApi } from "../../api/kernel.ts";
import type { Cursor } from "../../api/values/event.ts";
import type { PromptFile } from "../../api/values/prompt-file.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { withFiles } from "../shared/prompt-files.ts";
import type { QueuedPrompt, QueueStore } from "./queue-store.ts";

/** Maximum queued prompts per session, and maximum total characters including files. */
export const queueLimit = 50;
const queueSize = 32 * 1024 * 1024;

/** Milliseconds before a session is followed again after a read error; doubles with each failure. */
const firstPause = 1000;
const longestPause = 60_000;

/** A prompt as shown to clients, with only the names of its files. */
interface ShownPrompt {
	readonly id: string;
	readonly input: string;
	readonly files: readonly { readonly name: string; readonly type: string }[];
	readonly at: number;
}

export interface ShownQueue {
	/** In sending order. */
	readonly prompts: readonly ShownPrompt[];
	/** Why the last prompt could not be sent; null if nothing is wrong. */
	readonly failure: string | null;
}

interface QueueParts {
	readonly sessions: SessionsApi;
	readonly store: QueueStore;
	readonly newId: () => string;
	readonly clock: Clock;
	readonly log: Log;
}

export class PromptQueues {
	readonly #parts: QueueParts;
	readonly #queues = new Map<string, SessionQueue>();

	constructor(parts: QueueParts) {
		this.#parts = parts;
	}

	/** Calls back with the queue now and after every change; returns a function that unsubscribes. */
	watch(sessionId: string, show: (queue: ShownQueue) => void): () => void {
		return this.#of(sessionId).watch(show);
	}

	list(sessionId: string): Promise<ShownQueue> {
		return this.#use(sessionId, async (queue) => queue.shown());
	}

	/** Appends a prompt, or sends it at once if nothing runs or waits. `id` makes a retry start its turn only once. */
	add(
		sessionId: string,
		input: string,
		files: readonly PromptFile[],
		id: string | null = null,
	): Promise<{ readonly id: string }> {
		return this.#use(sessionId, (queue) => queue.add(input, files, id ?? this.#parts.newId()));
	}

	change(sessionId: string, id: string, input: string): Promise<null> {
		return this.#use(sessionId, (queue) => queue.change(id, input));
	}

	remove(sessionId: string, id: string): Promise<null> {
		return this.#use(sessionId, (queue) => queue.remove(id));
	}

	/** Sends a prompt now: into the running turn, or as a new turn. */
	send(sessionId: string, id: string): Promise<null> {
		return this.#use(sessionId, (queue) => queue.send(id));
	}

	drop(sessionId: string): Promise<void> {
		return this.#use(sessionId, (queue) => queue.clear());
	}

	close(): void {
		for (const queue of this.#queues.values()) queue.close();
	}

	#use<R>(sessionId: string, work: (queue: SessionQueue) => Promise<R>): Promise<R> {
		const queue = this.#of(sessionId);
		return queue.inOrder(() => work(queue));
	}

	#of(sessionId: string): SessionQueue {
		const known = this.#queues.get(sessionId);
		if (known !== undefined) return known;
		const queue = new SessionQueue(sessionId, this.#parts, () => {
			if (this.#queues.get(sessionId) === queue) this.#queues.delete(sessionId);
		});
		this.#queues.set(sessionId, queue);
		return queue;
	}
}

class SessionQueue {
	readonly #sessionId: string;
	readonly #parts: QueueParts;
	readonly #onIdle: () => void;
	readonly #watchers = new Set<(queue: ShownQueue) => void>();
	#prompts: readonly QueuedPrompt[] = [];
	#failure: string | null = null;
	#loaded: Promise<void> | null = null;
	/** Settles once all earlier work is done. */
	#last: Promise<unknown> = Promise.resolve();
	#pending = 0;
	#following: { readonly handle: SessionHandle; readonly attachment: Attachment } | null = null;
	/** The last event read; null if no event can be missed after the next attachment. */
	#seen: Cursor | null = null;
	#pause = firstPause;
	/** Cancels the pending retry to follow the session; null if none. */
	#withdraw: (() => void) | null = null;
	#isClosed = false;

	/** `onIdle` is called whenever the queue has no state left to keep. */
	constructor(sessionId: string, parts: QueueParts, onIdle: () => void) {
		this.#sessionId = sessionId;
		this.#parts = parts;
		this.#onIdle = onIdle;
	}

	#reportIdle(): void {
		const isUsed = this.#watchers.size > 0 || this.#pending > 0 || this.#following !== null;
		if (this.#prompts.length === 0 && !isUsed) this.#onIdle();
	}

	shown(): ShownQueue {
		const prompts = this.#prompts.map(({ files, ...prompt }) => ({
			...prompt,
			files: files.map(({ name, type }) => ({ name, type })),
		}));
		return { prompts, failure: this.#failure };
	}

	watch(show: (queue: ShownQueue) => void): () => void {
		this.#watchers.add(show);
		const begin = this.inOrder(async () => {
			if (this.#watchers.has(show)) show(this.shown());
			// Prompts from an earlier process continue with the next finished turn.
			if (this.#prompts.length > 0) await this.#follow();
		});
		begin.catch((error) => this.#note(error));
		return () => {
			this.#watchers.delete(show);
			this.inOrder(() => this.#rest()).catch((error) => this.#note(error));
		};
	}

	inOrder<R>(work: () => Promise<R>): Promise<R> {
		this.#loaded ??= this.#parts.store.read(this.#sessionId).then((prompts) => {
			this.#prompts = prompts;
		});
		const loaded = this.#loaded;
		this.#pending += 1;
		const run = this.#last.then(async () => {
			try {
				await loaded;
				return await work();
			} finally {
				this.#pending -= 1;
				this.#reportIdle();
			}
		});
		this.#last = run.catch(() => {});
		return run;
	}

	async add(input: string, files: readonly PromptFile[], id: string): Promise<{ readonly id: string }> {
		if (this.#prompts.some((each) => each.id === id)) return { id };
		// Refuses invalid files now, while the client is present.
		withFiles(input, files);
		const prompt: QueuedPrompt = { id, input, files: [...files], at: this.#parts.clock.now() };
		if (this.#prompts.length >= queueLimit) {
			throw new KernelError("overloaded", `A session queues at most ${queueLimit} prompts; remove one.`);
		}
		const prompts = [...this.#prompts, prompt];
		checkSize(prompts);
		const isFirst = this.#prompts.length === 0;
		const { session } = await this.#follow();
		await this.#replace(prompts);
		if (isFirst && (await session.snapshot()).turnId === null) await this.#sendFirst();
		return { id: prompt.id };
	}

	async change(id: string, input: string): Promise<null> {
		this.#find(id);
		const prompts = this.#prompts.map((each) => (each.id === id ? { ...each, input } : each));
		checkSize(prompts);
		await this.#replace(prompts);
		return null;
	}

	async remove(id: string): Promise<null> {
		this.#find(id);
		await this.#replace(this.#prompts.filter((each) => each.id !== id));
		await this.#rest();
		return null;
	}

	async send(id: string): Promise<null> {
		const prompt = this.#find(id);
		const handle = await this.#follow();
		const input = withFiles(prompt.input, prompt.files);
		if ((await handle.session.snapshot()).turnId === null) await handle.startTurn(input, { key: id });
		else await handle.session.send({ type: "turn.steer", input });
		this.#failure = null;
		return await this.remove(id);
	}

	async clear(): Promise<void> {
		if (this.#prompts.length > 0) await this.#replace([]);
		await this.#rest();
	}

	close(): void {
		this.#isClosed = true;
		this.#withdraw?.();
		this.#following?.attachment.close();
	}

	#find(id: string): QueuedPrompt {
		const prompt = this.#prompts.find((each) => each.id === id);
		if (prompt !== undefined) return prompt;
		throw new KernelError("invalid-input", "This prompt is no longer queued: it was sent or removed.");
	}

	async #replace(prompts: readonly QueuedPrompt[]): Promise<void> {
		await this.#parts.store.write(this.#sessionId, prompts);
		this.#prompts = prompts;
		if (prompts.length === 0) this.#failure = null;
		this.#show();
	}

	#show(): void {
		for (const show of this.#watchers) show(this.shown());
	}

	async #follow(): Promise<SessionHandle> {
		if (this.#following !== null) return this.#following.handle;
		const handle = await this.#parts.sessions.acquire(this.#sessionId);
		try {
			const attachment = await handle.session.attach({
				client: null,
				tools: [],
				capabilities: [],
				approves: false,
				hooks: null,
				flow: "droppable",
				...(this.#seen === null ? {} : { after: this.#seen }),
			});
			this.#following = { handle, attachment };
			this.#seen ??= attachment.snapshot.cursor;
			void this.#read(attachment, handle);
		} catch (thrown) {
			handle.release();
			throw thrown;
		}
		return handle;
	}

	async #read(attachment: Attachment, handle: SessionHandle): Promise<void> {
		/** Events up to this number are repeated; it is unknown which of their turns ended unseen. */
		let repeated = 0;
		try {
			for await (const batch of attachment.events) {
				for (const { body, agentPath, epoch, seq } of batch) {
					this.#pause = firstPause;
					if (seq !== undefined && epoch !== undefined) this.#seen = { epoch, seq };
					if (body.type === "session.reset") repeated = attachment.snapshot.cursor.seq;
					if (body.type !== "turn.ended" || agentPath.length > 0 || (seq ?? 0) <= repeated) continue;
					const isFinished = body.outcome?.status === "finished";
					this.inOrder(async () => {
						if (isFinished) await this.#sendFirst();
						await this.#rest();
					}).catch((error) => this.#note(error));
				}
			}
		} catch (error) {
			this.#note(error);
		} finally {
			const isWanted = this.#following?.attachment === attachment;
			if (isWanted) this.#following = null;
			attachment.close();
			handle.release();
			if (isWanted) this.#followLater();
			this.#reportIdle();
		}
	}

	/** Follows the session again for its queued prompts, because a turn may have ended meanwhile. */
	#followLater(): void {
		if (this.#isClosed || this.#withdraw !== null) return;
		const pause = this.#pause;
		this.#pause = Math.min(pause * 2, longestPause);
		const follow = async () => {
			if (this.#prompts.length > 0) await this.#follow();
		};
		const tryAgain = () => {
			this.#withdraw = null;
			this.inOrder(follow).catch((error) => {
				this.#note(error);
				// The session was deleted, or another process has it.
				if (!(error instanceof KernelError) || !["session-not-found", "busy"].includes(error.code)) this.#followLater();
			});
		};
		this.#withdraw = this.#parts.clock.after(pause, tryAgain, true);
	}

	async #sendFirst(): Promise<void> {
		const [first, ...others] = this.#prompts;
		if (first === undefined) return;
		try {
			const handle = await this.#follow();
			// The id ensures that a prompt is sent once, even if the process ends before it is removed here.
			await handle.startTurn(withFiles(first.input, first.files), { key: first.id });
		} catch (thrown) {
			// Another turn was faster; try again at its end.
			if (thrown instanceof KernelError && thrown.code === "busy") return;
			this.#failure = thrown instanceof Error ? thrown.message : String(thrown);
			this.#show();
			return;
		}
		this.#failure = null;
		await this.#replace(others);
	}

	/** Releases the session if nothing is queued, or if no client watches and no turn runs. */
	async #rest(): Promise<void> {
		const following = this.#following;
		if (following === null) return;
		const isLeft = async () => this.#watchers.size === 0 && (await following.handle.session.snapshot()).turnId === null;
		if (this.#prompts.length > 0 && !(await isLeft())) return;
		this.#following = null;
		this.#seen = null;
		following.attachment.close();
	}

	#note(error: unknown): void {
		this.#parts.log.warn("The queued prompts of a session cannot be sent.", { session: this.#sessionId, error });
	}
}

function checkSize(prompts: readonly QueuedPrompt[]): void {
	if (prompts.reduce((sum, each) => sum + sizeOf(each), 0) <= queueSize) return;
	throw new KernelError(
		"overloaded",
		`The queued prompts of a session can have at most ${queueSize / 1024 / 1024} MiB with their files; remove one.`,
	);
}

function sizeOf({ input, files }: QueuedPrompt): number {
	return input.length + files.reduce((sum, { data }) => sum + data.length, 0);
}
