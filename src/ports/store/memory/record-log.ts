import type { SessionSummary } from "../../../api/session-list.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import type { SessionRecords } from "../session-records.ts";
import {
	applyChange,
	type ChangeLog,
	createMemorySession,
	isEmpty,
	type MemorySession,
	toSummary,
} from "./memory-data.ts";
import {
	fromChangeRecord,
	fromHeadRecord,
	type SessionChange,
	toChangeRecord,
	toHeadRecord,
} from "./session-change.ts";

export function createRecordLog(
	records: SessionRecords,
	workDir: string,
	id: string,
	session: MemorySession,
): ChangeLog {
	const lost = createDeferred<KernelError>();
	let writing: Promise<void> = Promise.resolve();
	const fail = (thrown: unknown): never => {
		const failure = toFailure(`The session ${id} was not stored`, thrown);
		lost.resolve(failure);
		throw failure;
	};
	return {
		lost: lost.promise,
		add(changes) {
			const before = session.changes - changes.length;
			const added = changes.map(toChangeRecord);
			if (before === 0) added.unshift(toHeadRecord({ workDir, epoch: session.epoch }));
			const entry = { ...toSummary(workDir, id, session), isUnused: isEmpty(session) };
			writing = writing.then(() => records.append(entry, added, before === 0 ? 0 : before + 1).catch(fail));
			return writing;
		},
		settled: () => writing.catch(() => undefined),
		delete: () => records.delete(id).catch(fail),
	};
}

/** Holds the changes of a session back until the function that it returns is called, which stores them together. */
export function holdChanges(session: MemorySession): () => Promise<void> {
	const { log } = session;
	if (log === null) return async () => {};
	const held: SessionChange[] = [];
	const nothing = async () => {};
	session.log = {
		add: async (changes) => void held.push(...changes),
		settled: nothing,
		delete: nothing,
		lost: log.lost,
	};
	return () => log.add(held);
}

export async function listSessions(
	records: SessionRecords,
	workDir: string | null,
	withUnused: boolean,
): Promise<readonly SessionSummary[]> {
	const listed = await records.list().catch((thrown: unknown) => {
		throw toFailure("The sessions cannot be listed", thrown);
	});
	return listed
		.filter((each) => (workDir === null || each.workDir === workDir) && (withUnused || !each.isUnused))
		.map(({ isUnused: _, ...summary }) => summary);
}

export async function readWorkDir(records: SessionRecords, id: string): Promise<string | null> {
	for await (const record of readRecords(records, id)) return fromHeadRecord(record, id).workDir;
	return null;
}

async function* readRecords(records: SessionRecords, id: string): AsyncGenerator<string> {
	try {
		yield* await records.read(id);
	} catch (thrown) {
		throw toFailure(`The session ${id} cannot be read`, thrown);
	}
}

export async function readSession(
	records: SessionRecords,
	id: string,
): Promise<{ readonly workDir: string; readonly session: MemorySession } | null> {
	let read: { readonly workDir: string; readonly session: MemorySession } | null = null;
	for await (const record of readRecords(records, id)) {
		if (read === null) {
			const { workDir, epoch } = fromHeadRecord(record, id);
			read = { workDir, session: createMemorySession(epoch) };
		} else applyChange(read.session, fromChangeRecord(record, { sessionId: id, epoch: read.session.epoch }));
	}
	return read;
}

function toFailure(what: string, thrown: unknown): KernelError {
	if (thrown instanceof KernelError) return thrown;
	return new KernelError("storage-failed", `${what}: the store that was passed in failed: ${errorText(thrown)}`);
}
