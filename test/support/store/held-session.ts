// A stored session as the kernel has it that writes it from the beginning.
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { StoredSession } from "../../../src/ports/store/session-store.ts";
import { createSharedSession, type SharedSession } from "../../../src/ports/store/shared-session.ts";

export function heldSession(stored: StoredSession): SharedSession {
	const { workDir, id } = stored;
	return createSharedSession({ store: createMemoryStore(), workDir, id }, { held: stored });
}
