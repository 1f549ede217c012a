import { unlessLate } from "../../base/abort.ts";
import { systemClock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Files } from "../../ports/files/port.ts";
import type { StartSource } from "../model-source.ts";
import { findCommandStore } from "./command-store.ts";

/** Milliseconds to wait for the database. */
const patience = 5000;

export interface StoreStatus {
	readonly type: "disk" | "postgres";
	/** Host and database; null for disk storage and for an unreadable address. */
	readonly database: string | null;
	readonly reachable: boolean;
	/** The schema version: 0 for no tables, null if unknown. */
	readonly version: number | null;
	readonly why: string | null;
}

/** Returns the status of the store selected by settings and environment; `files` are those of `findCommandStore`. Never fails. */
export async function readStoreStatus(files?: Files, source?: StartSource): Promise<StoreStatus> {
	const disk = { type: "disk", database: null, reachable: true, version: null, why: null } as const;
	let known: Pick<StoreStatus, "type" | "database"> = disk;
	try {
		const { settings, openDatabase } = await findCommandStore(files, source);
		if (settings.type === "disk") return disk;
		known = { type: "postgres", database: null };
		const { schemaVersion } = await import("../../ports/store/postgres/schema-version.ts");
		const database = await openDatabase();
		known = { type: "postgres", database: database.name };
		const reading = schemaVersion(database);
		const read = await unlessLate(reading, AbortSignal.timeout(patience), 0, systemClock);
		if (read === null) {
			reading.catch(() => undefined);
			return { ...known, reachable: false, version: null, why: `it did not answer within ${patience / 1000} seconds` };
		}
		await database.close();
		const { found, needed } = read;
		const isFit = found === needed || found === 0;
		const why = isFit ? null : `its tables have version ${found}, and this program needs ${needed}`;
		return { ...known, reachable: true, version: found, why };
	} catch (thrown) {
		return { ...known, reachable: false, version: null, why: errorText(thrown) };
	}
}

/** For `info --json`: undefined if sessions are on disk. */
export async function describeStore(): Promise<{ readonly store?: StoreStatus }> {
	const store = await readStoreStatus();
	return store.type === "disk" ? {} : { store };
}
