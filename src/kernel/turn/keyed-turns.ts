// Turns started with a key. Repeating a request after a crash returns the turn of the first request instead of starting another.

import type { UserInput } from "../../api/values/content.ts";
import { KernelError } from "../../base/errors.ts";
import { digestOfInput } from "../../ports/store/input-digest.ts";
import { type KeyedTurn, turnKeyLimit } from "../../ports/store/session-store.ts";

interface KnownTurn {
	readonly digest: string;
	/** Rejects when the turn could not begin, which frees its key. */
	readonly started: Promise<{ readonly turnId: string }>;
}

export class KeyedTurns {
	readonly #known: Map<string, KnownTurn>;

	constructor(stored: readonly KeyedTurn[]) {
		this.#known = new Map(
			stored.map(({ key, turnId, digest }) => [key, { digest, started: Promise.resolve({ turnId }) }]),
		);
	}

	has(key: string): boolean {
		return this.#known.has(key);
	}

	/** Returns the turn with this key, or starts it. Fails `invalid-input` if the input differs. */
	start(
		key: string,
		input: UserInput,
		begin: () => Promise<{ readonly turnId: string }>,
	): Promise<{ readonly turnId: string }> {
		const digest = digestOfInput(input);
		const known = this.#known.get(key);
		if (known !== undefined) {
			if (known.digest === digest) return known.started;
			const text = `A turn with another input was started under the key ${key}: use a new key for a new input.`;
			return Promise.reject(new KernelError("invalid-input", text));
		}
		const started = begin();
		this.#known.set(key, { digest, started });
		started.catch(() => this.#known.delete(key));
		const [oldest] = this.#known.keys();
		if (this.#known.size > turnKeyLimit && oldest !== undefined) this.#known.delete(oldest);
		return started;
	}
}
