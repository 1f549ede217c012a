// The prompts of one session that are not answered: they run one after the other, and a cancellation reaches all of
// them.
export interface Prompt {
	isCancelled: boolean;
	/** Whether it is its turn. */
	isRunning: boolean;
}

export class Prompts {
	readonly #open = new Set<Prompt>();
	#last: Promise<void> = Promise.resolve();

	/** Whether a prompt runs or waits. */
	get isBusy(): boolean {
		return this.#open.size > 0;
	}

	/** Does the work of a prompt after that of all earlier ones. */
	async run<T>(work: (prompt: Prompt) => Promise<T>, begun: (prompt: Prompt) => void = () => {}): Promise<T> {
		const prompt: Prompt = { isCancelled: false, isRunning: false };
		this.#open.add(prompt);
		begun(prompt);
		const earlier = this.#last;
		const start = () => {
			prompt.isRunning = true;
			return work(prompt);
		};
		const done = earlier.then(start).finally(() => this.#open.delete(prompt));
		this.#last = done.then(
			() => {},
			() => {},
		);
		return await done;
	}

	/** Marks all as cancelled. */
	cancel(): void {
		for (const prompt of this.#open) prompt.isCancelled = true;
	}

	/** Resolves when those of now have ended. */
	ended(): Promise<void> {
		return this.#last;
	}
}
