// What a session may do without asking, as it is stored: always whole, so that each change is made to what the one
// before it has left. Modes and approvals for the session change it at any time, a background agent's among them.
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";

type ApprovalFields = SessionState["approval"];

export class ApprovalState {
	readonly #stored: Pick<StoredSession, "state">;
	readonly #changes = createKeyedQueue();

	constructor(stored: Pick<StoredSession, "state">) {
		this.#stored = stored;
	}

	get fields(): ApprovalFields {
		return this.#stored.state().approval;
	}

	/** Stores a change with `store`, once all earlier ones are stored or have failed. */
	async change(
		toChanged: (fields: ApprovalFields) => Partial<ApprovalFields>,
		store: (state: Pick<SessionState, "approval">) => Promise<unknown> | undefined,
	): Promise<void> {
		await this.#changes.run("", async () => {
			const { fields } = this;
			await store({ approval: { ...fields, ...toChanged(fields) } });
		});
	}
}
