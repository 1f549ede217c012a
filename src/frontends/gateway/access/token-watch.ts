// Ends what was opened with a token that is not valid any more: streams and sockets, of which many may have the same token.

import type { Scope } from "../../../api/operations.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Tokens } from "./tokens.ts";

/** Milliseconds between two looks at the tokens of what is open. */
export const tokenCheckSpan = 5_000;

export class TokenWatch {
	readonly #tokens: Pick<Tokens, "scopeOf">;
	readonly #clock: Clock;
	/** What is to be called when it ends, with the scope that it was opened with, by token. */
	readonly #watchers = new Map<string, Map<() => void, Scope>>();
	/** Whether the next look is due, or under way. */
	#isRunning = false;

	constructor(tokens: Pick<Tokens, "scopeOf">, clock: Clock) {
		this.#tokens = tokens;
		this.#clock = clock;
	}

	/** Calls back once when the token is not valid any more, or allows something else, unless it is withdrawn before. */
	watch(token: string, scope: Scope, onRevoked: () => void): () => void {
		const watchers = this.#watchers.get(token) ?? new Map<() => void, Scope>();
		this.#watchers.set(token, watchers);
		// The same function may be given twice.
		const call = () => onRevoked();
		watchers.set(call, scope);
		if (!this.#isRunning) this.#lookLater();
		return () => {
			watchers.delete(call);
			if (watchers.size === 0 && this.#watchers.get(token) === watchers) this.#watchers.delete(token);
		};
	}

	#lookLater(): void {
		this.#isRunning = this.#watchers.size > 0;
		if (this.#isRunning) this.#clock.after(tokenCheckSpan, () => void this.#look(), true);
	}

	async #look(): Promise<void> {
		for (const [token, watchers] of [...this.#watchers]) {
			// A file that cannot be used has no valid tokens.
			const scope = await this.#tokens.scopeOf(token).catch(() => null);
			const ended = [...watchers].filter(([, opened]) => opened !== scope);
			for (const [call] of ended) watchers.delete(call);
			if (watchers.size === 0 && this.#watchers.get(token) === watchers) this.#watchers.delete(token);
			for (const [call] of ended) call();
		}
		this.#lookLater();
	}
}
