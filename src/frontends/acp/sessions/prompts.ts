// Prompts run one after another, side questions concurrently; a cancellation reaches all of them.
import { createDeferred, type Deferred } from "../../../base/deferred.ts";

export interface Prompt {
	isCancelled: boolean;
	isRunning: boolean;
	/** Resolved when it can be answered as canceled. */
	readonly withdrawn: Deferred<void>;
}

type Work<T> = (prompt: Prompt) => Promise<T>;
type Begun = (prompt: Prompt) => void;

export class Prompts {
	readonly #inLine = new Set<Prompt>();
	readonly #concurrent = new Set<Prompt>();
	#last: Promise<void> = Promise.resolve();

	get isBusy(): boolean {
		return this.#inLine.size > 0;
	}

	get isEmpty(): boolean {
		return this.#inLine.size + this.#concurrent.size === 0;
	}

	/** Without earlier prompts it starts synchronously. Returns null if withdrawn before. */
	async run<T>(work: Work<T>, begun: Begun = () => {}): Promise<T | null> {
		const prompt = createPrompt();
		const isFirst = !this.isBusy;
		this.#inLine.add(prompt);
		begun(prompt);
		const start = async () => {
			if (prompt.isCancelled) return null;
			prompt.isRunning = true;
			return await work(prompt);
		};
		const done = isFirst ? start() : this.#last.then(start);
		this.#last = done.then(
			() => {},
			() => {},
		);
		return await unlessWithdrawn(prompt, done).finally(() => this.#inLine.delete(prompt));
	}

	/** Runs a side question immediately; returns null if it is canceled before it ends. */
	async runConcurrently<T>(work: Work<T>, begun: Begun = () => {}): Promise<T | null> {
		const prompt = createPrompt();
		this.#concurrent.add(prompt);
		begun(prompt);
		return await unlessWithdrawn(prompt, work(prompt)).finally(() => this.#concurrent.delete(prompt));
	}

	/** Cancels one prompt: a waiting one is answered at once, a running one when its work has ended. */
	withdraw(prompt: Prompt): void {
		prompt.isCancelled = true;
		if (!prompt.isRunning) prompt.withdrawn.resolve();
	}

	withdrawWaiting(): void {
		for (const prompt of this.#inLine) if (!prompt.isRunning) this.withdraw(prompt);
	}

	/** Cancels all prompts. Waiting ones are answered after the running one, in order. */
	cancel(): void {
		for (const prompt of this.#inLine) prompt.isCancelled = true;
		for (const prompt of this.#concurrent) this.withdraw(prompt);
	}

	/** Resolves when all current prompts have ended. */
	ended(): Promise<void> {
		return this.#last;
	}
}

function unlessWithdrawn<T>({ withdrawn }: Prompt, done: Promise<T>): Promise<T | null> {
	return Promise.race([done, withdrawn.promise.then(() => null)]);
}

function createPrompt(): Prompt {
	return { isCancelled: false, isRunning: false, withdrawn: createDeferred<void>() };
}
