/** A value created on first use and shared by all callers. A failure is not kept: the next use retries. */
export class OnFirstUse<Value> {
	readonly #create: () => Promise<Value>;
	#creating: Promise<Value> | null = null;

	constructor(create: () => Promise<Value>) {
		this.#create = create;
	}

	get isUsed(): boolean {
		return this.#creating !== null;
	}

	get(): Promise<Value> {
		this.#creating ??= this.#create().catch((thrown: unknown) => {
			this.#creating = null;
			throw thrown;
		});
		return this.#creating;
	}

	/** The value, to close it; null when no use succeeded. */
	async made(): Promise<Value | null> {
		return (await this.#creating?.catch(() => null)) ?? null;
	}

	/** The next use creates another value. */
	forget(): void {
		this.#creating = null;
	}
}
