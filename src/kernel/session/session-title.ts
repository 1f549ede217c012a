import type { UserInput } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import type { Log } from "../../base/log.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import { toGivenTitle, toTitle } from "../../ports/store/title.ts";

export interface TitleParts {
	readonly stored: Pick<StoredSession, "state" | "commit">;
	/** Persists the event with the change and delivers it without waiting for clients. */
	emit(body: EventBody, state: Partial<SessionState>): Promise<void>;
	/** Asks the model for a better title than the beginning of the input; null where that stays. */
	readonly suggest: ((input: UserInput, signal: AbortSignal) => Promise<string | null>) | null;
	readonly log: Log;
}

export class SessionTitle {
	readonly #parts: TitleParts;
	/** Renames not stored yet. No derived title may follow them. */
	#pending = 0;
	readonly #stopping = new AbortController();
	#suggested: Promise<void> = Promise.resolve();

	constructor(parts: TitleParts) {
		this.#parts = parts;
	}

	/** Sets the title. Fails with `invalid-input` or `storage-failed`. */
	async set(text: string): Promise<{ readonly title: string }> {
		const title = toGivenTitle(text);
		this.#pending += 1;
		try {
			await this.#parts.emit({ type: "title.changed", title }, { customTitle: title });
		} finally {
			this.#pending -= 1;
		}
		return { title };
	}

	/** An untitled session is titled after its first answered input. */
	async derive(input: UserInput): Promise<void> {
		const { stored, suggest } = this.#parts;
		const title = toTitle(input);
		if (this.#pending > 0 || stored.state().customTitle !== null || title === null) return;
		await stored.commit({ state: { customTitle: title } });
		// The turn does not wait for it.
		if (suggest !== null) this.#suggested = this.#improve(title, suggest(input, this.#stopping.signal));
	}

	/** Ends the request for a title, and waits for it. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		await this.#suggested;
	}

	/** Replaces the derived title, unless somebody else did meanwhile. */
	async #improve(derived: string, suggestion: Promise<string | null>): Promise<void> {
		const { stored, log } = this.#parts;
		try {
			const better = toTitle((await suggestion) ?? "");
			if (better === null || this.#pending > 0 || stored.state().customTitle !== derived) return;
			await this.set(better);
		} catch (thrown) {
			log.warn("The model gave no title.", { error: thrown });
		}
	}
}
