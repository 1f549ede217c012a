// The prompts of one session that are not answered: they run one after the other, side questions meanwhile, and a
// cancellation reaches all of them.
import { createDeferred, type Deferred } from "../../../base/deferred.ts";

export interface Prompt {
	isCancelled: boolean;
	/** Whether it is its turn. */
	isRunning: boolean;
	/** Resolved when there is nothing to wait for before it is answered as cancelled. */
	readonly withdrawn: Deferred<void>;
}

export class Prompts {
	readonly #inLine = new Set<Prompt>();
	readonly #concurrent = new Set<Prompt>();
	#last: Promise<void> = Promise.resolve();

	/** Whether a prompt runs or waits. */
	get isBusy(): boolean {
		return this.#inLine.size > 0;
	}

	/** Whether neither a prompt nor a side question is open. */
	get isEmpty(): boolean {
		return this.#inLine.size + this.#concurrent.size === 0;
	}

	/**
	 * Does the work of a prompt after that of all earlier ones, and begins it at once without any: requests that follow come
	 * after it. Gives `cancelled` for one that is withdrawn before.
	 */
	async run<T>(
		work: (prompt: Prompt) => Promise<T>,
		cancelled: T,
		begun: (prompt: Prompt) => void = () => {},
	): Promise<T> {
		const prompt = createPrompt();
		const isFirst = !this.isBusy;
		this.#inLine.add(prompt);
		begun(prompt);
		const start = async (): Promise<T> => {
			if (prompt.isCancelled) return cancelled;
			prompt.isRunning = true;
			return await work(prompt);
		};
		const done = isFirst ? start() : this.#last.then(start);
		this.#last = done.then(
			() => {},
			() => {},
		);
		const withdrawn = prompt.withdrawn.promise.then(() => cancelled);
		return await Promise.race([done, withdrawn]).finally(() => this.#inLine.delete(prompt));
	}

	/** Does the work of a side question at once; gives `cancelled` when it is cancelled before the work has ended. */
	async runConcurrently<T>(
		work: (prompt: Prompt) => Promise<T>,
		cancelled: T,
		begun: (prompt: Prompt) => void = () => {},
	): Promise<T> {
		const prompt = createPrompt();
		this.#concurrent.add(prompt);
		begun(prompt);
		const withdrawn = prompt.withdrawn.promise.then(() => cancelled);
		return await Promise.race([work(prompt), withdrawn]).finally(() => this.#concurrent.delete(prompt));
	}

	/** Cancels one; one that waits is answered at once, and one that runs when its work has ended. */
	withdraw(prompt: Prompt): void {
		prompt.isCancelled = true;
		if (!prompt.isRunning) prompt.withdrawn.resolve();
	}

	/** Cancels those whose turn has not come. */
	withdrawWaiting(): void {
		for (const prompt of this.#inLine) if (!prompt.isRunning) this.withdraw(prompt);
	}

	/** Cancels all. Those that wait are answered after the one that runs, in their order. */
	cancel(): void {
		for (const prompt of this.#inLine) prompt.isCancelled = true;
		for (const prompt of this.#concurrent) this.withdraw(prompt);
	}

	/** Resolves when those of now have ended. */
	ended(): Promise<void> {
		return this.#last;
	}
}

function createPrompt(): Prompt {
	return { isCancelled: false, isRunning: false, withdrawn: createDeferred<void>() };
}
