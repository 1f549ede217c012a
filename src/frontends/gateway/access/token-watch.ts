// Ends streams and sockets whose token becomes invalid. Many may share one token.

import type { Scope } from "../../../api/operations.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Tokens } from "./tokens.ts";

export const tokenCheckSpan = 5_000;

export class TokenWatch {
	readonly #tokens: Pick<Tokens, "scopeOf">;
	readonly #clock: Clock;
	readonly #watchers = new Map<string, Map<() => void, Scope>>();
	#isRunning = false;

	constructor(tokens: Pick<Tokens, "scopeOf">, clock: Clock) {
		this.#tokens = tokens;
		this.#clock = clock;
	}

	/** Calls back once when the token becomes invalid or changes its scope; returns a function that cancels. */
	watch(token: string, scope: Scope, onRevoked: () => void): () => void {
		const watchers = this.#watchers.get(token) ?? new Map<() => void, Scope>();
		this.#watchers.set(token, watchers);
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
			// An unreadable file has no valid tokens.
			const scope = await this.#tokens.scopeOf(token).catch(() => null);
			const ended = [...watchers].filter(([, opened]) => opened !== scope);
			for (const [call] of ended) watchers.delete(call);
			if (watchers.size === 0 && this.#watchers.get(token) === watchers) this.#watchers.delete(token);
			for (const [call] of ended) call();
		}
		this.#lookLater();
	}
}
