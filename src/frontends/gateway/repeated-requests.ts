// Idempotency keys: a retry with the same key gets the same answer, and the work is done once.
import { createHash } from "node:crypto";
import { KernelError } from "../../base/errors.ts";

/** Number of cached answers, and their lifetime in milliseconds. */
export const rememberedAnswers = 1000;
export const answerLife = 600_000;

interface Remembered {
	readonly digest: string;
	readonly answer: Promise<unknown>;
	readonly at: number;
}

export class RepeatedRequests {
	readonly #now: () => number;
	/** By key, oldest first. */
	readonly #answers = new Map<string, Remembered>();

	/** `now` is in milliseconds. */
	constructor(now: () => number) {
		this.#now = now;
	}

	/** Failures are not cached, because nothing was done. Fails `invalid-input` for a key used with another request. */
	async once(key: string, request: string, work: () => Promise<unknown>): Promise<unknown> {
		this.#forgetOld();
		const digest = createHash("sha256").update(request, "utf8").digest("hex");
		const earlier = this.#answers.get(key);
		if (earlier === undefined) {
			const answer = work();
			const remembered = { digest, answer, at: this.#now() };
			this.#answers.set(key, remembered);
			answer.catch(() => {
				if (this.#answers.get(key) === remembered) this.#answers.delete(key);
			});
			return await answer;
		}
		if (earlier.digest === digest) return await earlier.answer;
		throw new KernelError(
			"invalid-input",
			"This Idempotency-Key was used for a different request; use a new key for each request.",
		);
	}

	#forgetOld(): void {
		for (const [key, { at }] of this.#answers) {
			const isFull = this.#answers.size >= rememberedAnswers;
			if (!isFull && this.#now() - at < answerLife) return;
			this.#answers.delete(key);
		}
	}
}
