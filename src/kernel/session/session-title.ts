// The title of a session: set by a user, or derived from its first answered input.
import type { UserInput } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import { toGivenTitle, toTitle } from "../../ports/store/title.ts";

export interface TitleParts {
	readonly stored: Pick<StoredSession, "state" | "commit">;
	/** Persists the event with the change and delivers it without waiting for clients. */
	emit(body: EventBody, state: Partial<SessionState>): Promise<void>;
}

export class SessionTitle {
	readonly #parts: TitleParts;
	/** Renames not stored yet. No derived title may follow them. */
	#pending = 0;

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
		const { stored } = this.#parts;
		const title = toTitle(input);
		if (this.#pending > 0 || stored.state().customTitle !== null || title === null) return;
		await stored.commit({ state: { customTitle: title } });
	}
}
