// What becomes of old sessions: each is archived or deleted by itself, whatever happens to the others.
import { errorText, KernelError } from "../../base/errors.ts";
import type { SessionStore, SessionSummary } from "../../ports/store/session-store.ts";
import type { StoreAction } from "../arguments/options/store-options.ts";

export interface Retirement {
	/** The ids of the sessions that were archived or deleted. */
	readonly done: readonly string[];
	/** Those that another process has open. */
	readonly open: readonly string[];
	/** Those for which the store failed; the reason is for people. */
	readonly failed: readonly { readonly session: string; readonly reason: string }[];
}

/** Archives or deletes those of the sessions that are old enough. `now` is in milliseconds since the epoch. */
export async function retireSessions(
	store: Pick<SessionStore, "open" | "delete">,
	sessions: readonly SessionSummary[],
	action: Extract<StoreAction, { name: "archive" | "delete" }>,
	now: number,
): Promise<Retirement> {
	const done: string[] = [];
	const open: string[] = [];
	const failed: { readonly session: string; readonly reason: string }[] = [];
	for (const { id, workDir } of sessions.filter((each) => isOld(each, action, now))) {
		try {
			if (action.name === "delete") await store.delete(workDir, id);
			else await archive(store, workDir, id, now);
			done.push(id);
		} catch (thrown) {
			if (!(thrown instanceof KernelError)) throw thrown;
			// One that is damaged, or somebody else's, would otherwise keep all that are newer for ever.
			if (thrown.code === "busy") open.push(id);
			else failed.push({ session: id, reason: errorText(thrown) });
		}
	}
	return { done, open, failed };
}

function isOld(
	{ updatedAt, archivedAt }: SessionSummary,
	action: Extract<StoreAction, { name: "archive" | "delete" }>,
	now: number,
): boolean {
	if (action.name === "archive") return archivedAt === null && now - updatedAt >= action.olderThan;
	if (!action.isArchived) return now - updatedAt >= action.olderThan;
	return archivedAt !== null && now - archivedAt >= action.olderThan;
}

async function archive(store: Pick<SessionStore, "open">, workDir: string, id: string, now: number): Promise<void> {
	const session = await store.open(workDir, id);
	if (session === null) return;
	try {
		await session.commit({ state: { archivedAt: now / 1000 } }, { sync: true });
	} finally {
		await session.close({ becomesLast: false });
	}
}
