import type { SessionSummary } from "../../api/session-list.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import type { StoreAction } from "../arguments/options/store-options.ts";

export interface Retirement {
	readonly done: readonly string[];
	readonly open: readonly string[];
	readonly failed: readonly { readonly session: string; readonly reason: string }[];
}

/** Archives or deletes sessions that are old enough. `now` is in milliseconds since the epoch. */
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
			// One damaged or foreign session must not block all newer ones.
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
