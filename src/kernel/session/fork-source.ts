import type { ContextRow } from "../../api/values/conversation.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";

export interface ForkSource {
	readonly stored: StoredSession;
	readonly rows: readonly ContextRow[];
	/** The messages before the turn of the fork; null for all. */
	readonly messages: number | null;
	/** Number of its last event at that moment. */
	readonly end: number;
	readonly plan: Partial<SessionState>;
}
