// After a finished turn the next prompt starts; after a failed or stopped turn they wait for a user.

import { randomUUID } from "node:crypto";
import type { SessionHandle, SessionsApi } from "../../../api/kernel.ts";
import type { PromptFile } from "../../../api/values/prompt-file.ts";
import type { Clock } from "../../../base/clock.ts";
import { KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { withFiles } from "../../shared/prompt-files.ts";
import type { ShownQueue } from "../protocol.ts";
import { FollowedSession } from "./followed-session.ts";
import { findPrompt, type PromptList, toShown, withInput, withoutPrompt, withPrompt } from "./prompt-list.ts";
import type { QueueStore } from "./queue-store.ts";

export interface QueueParts {
	readonly sessions: SessionsApi;
	readonly store: QueueStore;
	readonly clock: Clock;
	readonly log: Log;
}

/** What changes it is to be called as work of `inOrder`. */
export class SessionQueue {
	readonly #sessionId: string;
	readonly #parts: QueueParts;
	readonly #onIdle: () => void;
	readonly #followed: FollowedSession;
	readonly #watchers = new Set<(queue: ShownQueue) => void>();
	#prompts: PromptList = [];
	#failure: string | null = null;
	#loaded: Promise<void> | null = null;
	/** Settles once all earlier work is done. */
	#last: Promise<unknown> = Promise.resolve();
	#pending = 0;

	/** `onIdle` is called whenever the queue has no state left to keep. */
	constructor(sessionId: string, parts: QueueParts, onIdle: () => void) {
		this.#sessionId = sessionId;
		this.#parts = parts;
		this.#onIdle = onIdle;
		this.#followed = new FollowedSession(() => parts.sessions.acquire(sessionId), parts.clock, {
			onTurnEnded: (isFinished) =>
				this.#inBackground(async () => {
					if (isFinished) await this.#sendFirst();
					await this.#rest();
				}),
			onError: (error) => this.#note(error),
			followAgain: () => this.inOrder(() => this.#followIfNeeded()),
			onDetached: () => this.#reportIdle(),
		});
	}

	shown(): ShownQueue {
		return { prompts: toShown(this.#prompts), failure: this.#failure };
	}

	/** Calls back with the queue now and after every change; returns a function that unsubscribes. */
	watch(show: (queue: ShownQueue) => void): () => void {
		this.#watchers.add(show);
		this.#inBackground(async () => {
			if (this.#watchers.has(show)) show(this.shown());
			// Prompts from an earlier process continue with the next finished turn.
			await this.#followIfNeeded();
		});
		return () => {
			this.#watchers.delete(show);
			this.#inBackground(() => this.#rest());
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

	/** Appends a prompt, or sends it at once if nothing runs or waits. `id` makes a retry start its turn only once. */
	async add(input: string, files: readonly PromptFile[], id: string = randomUUID()): Promise<{ readonly id: string }> {
		if (this.#prompts.some((each) => each.id === id)) return { id };
		// Refuses invalid files now, while the client is present.
		withFiles(input, files);
		const prompts = withPrompt(this.#prompts, { id, input, files: [...files], at: this.#parts.clock.now() });
		const isFirst = this.#prompts.length === 0;
		const { session } = await this.#followed.follow();
		await this.#replace(prompts);
		if (isFirst && (await session.snapshot()).turnId === null) await this.#sendFirst();
		return { id };
	}

	async change(id: string, input: string): Promise<null> {
		await this.#replace(withInput(this.#prompts, id, input));
		return null;
	}

	async remove(id: string): Promise<null> {
		await this.#replace(withoutPrompt(this.#prompts, id));
		await this.#rest();
		return null;
	}

	/** Sends a prompt now: into the running turn, or as a new turn. */
	async send(id: string): Promise<null> {
		const prompt = findPrompt(this.#prompts, id);
		const handle = await this.#followed.follow();
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
		this.#followed.close();
	}

	async #replace(prompts: PromptList): Promise<void> {
		await this.#parts.store.write(this.#sessionId, prompts);
		this.#prompts = prompts;
		if (prompts.length === 0) this.#failure = null;
		this.#show();
	}

	#show(): void {
		for (const show of this.#watchers) show(this.shown());
	}

	async #sendFirst(): Promise<void> {
		const [first, ...others] = this.#prompts;
		if (first === undefined) return;
		try {
			const handle = await this.#followed.follow();
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

	async #followIfNeeded(): Promise<void> {
		if (this.#prompts.length > 0) await this.#followed.follow();
	}

	/** Releases the session if nothing is queued, or if no client watches and no turn runs. */
	async #rest(): Promise<void> {
		const { handle } = this.#followed;
		if (handle === null) return;
		if (this.#prompts.length === 0 || (await this.#isLeft(handle))) this.#followed.release();
	}

	async #isLeft({ session }: SessionHandle): Promise<boolean> {
		return this.#watchers.size === 0 && (await session.snapshot()).turnId === null;
	}

	#inBackground(work: () => Promise<void>): void {
		this.inOrder(work).catch((error) => this.#note(error));
	}

	#reportIdle(): void {
		const isUsed = this.#watchers.size > 0 || this.#pending > 0 || this.#followed.handle !== null;
		if (this.#prompts.length === 0 && !isUsed) this.#onIdle();
	}

	#note(error: unknown): void {
		this.#parts.log.warn("The queued prompts of a session cannot be sent.", { session: this.#sessionId, error });
	}
}
