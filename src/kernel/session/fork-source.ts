// What a fork of a session begins with.
import type { ContextRow } from "../../api/values/conversation.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";

/** What a session has at one moment at which no turn runs. */
export interface ForkSource {
	readonly stored: StoredSession;
	readonly rows: readonly ContextRow[];
	/** The last of its events at that moment. */
	readonly end: number;
	/** What the fork has of its plan mode. */
	readonly plan: Partial<SessionState>;
}
