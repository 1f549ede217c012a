// Measures commits of the two stores next to each other: each one durable event that is on stable storage when it is answered.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { silentLog } from "../src/base/log.ts";
import { createDiskFiles } from "../src/ports/files/disk-files.ts";
import { createDiskStore } from "../src/ports/store/disk/disk-store.ts";
import { createDatabase } from "../src/ports/store/postgres/database.ts";
import { parseDatabaseUrl } from "../src/ports/store/postgres/database-address.ts";
import { PostgresStore } from "../src/ports/store/postgres/postgres-store.ts";
import type { SessionStore } from "../src/ports/store/session-store.ts";
import { percentile } from "./report.ts";

/** Sessions that commit in parallel, and the commits of each. */
export const storeLoads = [
	{ sessions: 1, commits: 400 },
	{ sessions: 20, commits: 100 },
	{ sessions: 200, commits: 20 },
] as const;
export type StoreLoad = (typeof storeLoads)[number];

/** Characters of the text in each event. */
const textLength = 500;

export interface StoreMeasurement {
	readonly commitsPerSecond: number;
	/** Milliseconds from a commit to its answer. */
	readonly median: number;
	readonly p99: number;
}

/** The store over this database, in a schema of its own. */
export async function measurePostgresStore(url: string, schema: string, load: StoreLoad): Promise<StoreMeasurement> {
	const database = createDatabase({ address: parseDatabaseUrl(url), schema, log: silentLog, clock: systemClock });
	const store = new PostgresStore({ database, log: silentLog, clock: systemClock });
	try {
		return await measure(store, load);
	} finally {
		await store.close();
	}
}

/** The store below this directory. */
export async function measureDiskStore(load: StoreLoad): Promise<StoreMeasurement> {
	const shareDir = await mkdtemp(path.join(tmpdir(), "agentwire-bench-store-"));
	const files = createDiskFiles();
	const store = createDiskStore({ files, shareDir, log: silentLog, clock: systemClock, protocolVersion: "1.10" });
	try {
		return await measure(store, load);
	} finally {
		await store.close();
		await rm(shareDir, { recursive: true });
	}
}

async function measure(store: SessionStore, { sessions, commits }: StoreLoad): Promise<StoreMeasurement> {
	const opened = await Promise.all(
		Array.from({ length: sessions }, (_, index) => store.openOrCreate("/bench", `session-${index}`)),
	);
	const text = "x".repeat(textLength);
	const commit = (index: number) => {
		const body = { type: "content.completed", part: { type: "text", text } } as const;
		const event = { sessionId: `session-${index}`, turnId: "t", agentPath: [], at: Date.now(), body };
		return opened[index]?.commit({ events: [event] }, { sync: true });
	};
	// The first commit makes the files, or the row, and fills the pool.
	await Promise.all(opened.map((_, index) => commit(index)));
	const times: number[] = [];
	const startedAt = performance.now();
	await Promise.all(
		opened.map(async (_, index) => {
			for (let n = 0; n < commits; n += 1) {
				const begun = performance.now();
				await commit(index);
				times.push(performance.now() - begun);
			}
		}),
	);
	const seconds = (performance.now() - startedAt) / 1000;
	await Promise.all(opened.map((session) => session.close()));
	return { commitsPerSecond: times.length / seconds, median: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
