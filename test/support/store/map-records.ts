// A store as an embedding program might write one: records in a map.
import type { ListedSession, SessionRecords } from "../../../src/ports/store/session-records.ts";

export interface MapRecords {
	readonly records: SessionRecords;
	/** How often each method was called. */
	readonly calls: Readonly<Record<keyof SessionRecords, number>>;
	/** The stored texts of a session. */
	texts(id: string): readonly string[];
}

export function createMapRecords(): MapRecords {
	const sessions = new Map<string, { readonly session: ListedSession; readonly texts: readonly string[] }>();
	const texts = (id: string) => sessions.get(id)?.texts ?? [];
	const calls = { append: 0, read: 0, list: 0, delete: 0 };
	const records: SessionRecords = {
		async append(session, added, length) {
			calls.append += 1;
			if (texts(session.id).length !== length) throw new Error(`There are ${texts(session.id).length} records.`);
			sessions.set(session.id, { session, texts: [...texts(session.id), ...added] });
		},
		async read(id) {
			calls.read += 1;
			return texts(id);
		},
		async list() {
			calls.list += 1;
			return [...sessions.values()].map(({ session }) => session);
		},
		async delete(id) {
			calls.delete += 1;
			sessions.delete(id);
		},
	};
	return { records, calls, texts };
}
