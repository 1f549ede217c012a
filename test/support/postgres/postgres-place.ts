// A schema of its own in the shared PostgreSQL, and stores over it.
import { randomBytes } from "node:crypto";
import type { Clock } from "../../../src/base/clock.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { DatabaseOptions } from "../../../src/ports/store/postgres/connections.ts";
import { createDatabase, type Database } from "../../../src/ports/store/postgres/database.ts";
import { parseDatabaseUrl } from "../../../src/ports/store/postgres/database-address.ts";
import { PostgresStore, type PostgresStoreOptions } from "../../../src/ports/store/postgres/postgres-store.ts";
import { createSteppingClock, type SteppingClock } from "../host/stepping-clock.ts";
import { createMemoryLog } from "../store/store-directory.ts";

export interface PostgresPlace {
	readonly workDir: string;
	readonly schema: string;
	openDatabase(options?: Partial<DatabaseOptions>): Database;
	/** Without a clock, waiting for a session that another store holds takes no time. */
	openStore(
		options?: Partial<PostgresStoreOptions> & {
			readonly clock?: Clock;
			readonly connection?: Partial<DatabaseOptions>;
		},
	): PostgresStore;
	/** Lets the stores without a clock of their own look at what they watch. */
	passTime(): void;
	/** Resolves once the database gives what is written now a later time than any before. */
	tick(): Promise<void>;
	cleanUp(): Promise<void>;
}

export async function createPostgresPlace(url: string): Promise<PostgresPlace> {
	const schema = `test_${randomBytes(6).toString("hex")}`;
	const closing: (() => Promise<void>)[] = [];
	const clocks: SteppingClock[] = [];
	const connect = (options: Partial<DatabaseOptions> = {}): Database =>
		createDatabase({
			address: parseDatabaseUrl(url),
			schema,
			log: createMemoryLog(),
			clock: systemClock,
			poolSize: 3,
			...options,
		});
	const openDatabase = (options?: Partial<DatabaseOptions>): Database => {
		const database = connect(options);
		closing.push(() => database.close());
		return database;
	};
	const admin = connect();
	const time = async (): Promise<number> => {
		const [row] = await admin.query("select floor(extract(epoch from clock_timestamp()) * 1000) as now");
		return Number(row?.["now"]);
	};
	return {
		workDir: "/home/me/project",
		schema,
		openDatabase,
		openStore({ clock, connection = {}, ...options } = {}) {
			const stepping = createSteppingClock(Date.now());
			if (clock === undefined) clocks.push(stepping);
			const used = clock ?? stepping;
			const store = new PostgresStore({
				database: connect({ clock: used, ...connection }),
				log: createMemoryLog(),
				clock: used,
				...options,
			});
			closing.push(() => store.close());
			return store;
		},
		passTime() {
			for (const clock of clocks) clock.runBackground();
		},
		async tick() {
			const before = await time();
			while ((await time()) <= before) {
				// A millisecond.
			}
		},
		async cleanUp() {
			await Promise.allSettled(closing.reverse().map((close) => close()));
			await admin.query(`drop schema if exists "${schema}" cascade`);
			await admin.close();
		},
	};
}
