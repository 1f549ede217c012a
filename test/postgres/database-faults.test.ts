// What becomes of commits when the database, the network or the process fails in the middle: every acknowledged event is
// stored once, in order, by one writer at a time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { type DatabaseAddress, parseDatabaseUrl } from "../../src/ports/store/postgres/database-address.ts";
import { migrations } from "../../src/ports/store/postgres/migrations.ts";
import type { PostgresStore } from "../../src/ports/store/postgres/postgres-store.ts";
import { migrate } from "../../src/ports/store/postgres/schema-version.ts";
import { checkStore } from "../../src/ports/store/postgres/store-check.ts";
import type { StoredSession } from "../../src/ports/store/session-store.ts";
import { eventAt, readAll } from "../contracts/store-contract.ts";
import { createFaultProxy, type FaultProxy } from "../support/postgres/fault-proxy.ts";
import { createPostgresPlace, type PostgresPlace } from "../support/postgres/postgres-place.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../support/postgres/postgres-server.ts";

const id = "11111111-2222-4333-8444-555555555555";
/** Long enough for a slow machine to restart the database. */
const longLease = { duration: 120_000, interval: 1_000 };
const soon = { timeout: 60_000 };

describe.skipIf(findPostgres() === null)("faults of the database", () => {
	let server: PostgresServer;
	let place: PostgresPlace;
	let proxy: FaultProxy;
	beforeAll(async () => {
		server = await startPostgres({ isDurable: true });
	}, 60_000);
	afterAll(() => server.remove());
	beforeEach(async () => {
		place = await createPostgresPlace(server.url);
		proxy = await createFaultProxy(server.port);
	});
	afterEach(async () => {
		await proxy.close();
		await place.cleanUp();
	});

	const throughProxy = (): { readonly address: DatabaseAddress } => ({
		address: { ...parseDatabaseUrl(server.url), port: proxy.port },
	});
	const open = (lease = longLease, connection = {}): PostgresStore =>
		place.openStore({ clock: systemClock, lease, connection });
	const commitStep = async (session: StoredSession, n: number) =>
		(await session.commit({ events: [eventAt({ type: "step.started", n })] }, { sync: true }))[0]?.seq;

	/** Commits until it is stopped, several at once; remembers what was acknowledged. */
	const load = (session: StoredSession) => {
		let isStopped = false;
		const acknowledged: number[] = [];
		const worker = async (first: number) => {
			for (let n = first; !isStopped; n += 4) {
				await commitStep(session, n);
				acknowledged.push(n);
			}
		};
		const running = Promise.all([1, 2, 3, 4].map(worker));
		return {
			acknowledged,
			async stop() {
				isStopped = true;
				await running;
				return acknowledged;
			},
		};
	};
	const checkAll = async (session: StoredSession, acknowledged: readonly number[]) => {
		const events = await readAll(session);
		expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
		const stored = events.map(({ body }) => (body.type === "step.started" ? body.n : -1));
		const inOrder = (numbers: readonly number[]) => [...numbers].sort((one, other) => one - other);
		expect(inOrder(stored)).toEqual(inOrder(acknowledged));
		expect((await checkStore(place.openDatabase())).problems).toEqual([]);
	};

	it("loses and repeats nothing when its connections are ended under load", async () => {
		const session = await open().openOrCreate(place.workDir, id);
		await commitStep(session, 0);
		const running = load(session);
		const admin = place.openDatabase({ poolSize: 1 });
		for (let ended = 0; ended < 20; ) {
			const rows = await admin.query(
				`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query like $1`,
				[`%"${place.schema}".event%`],
			);
			ended += rows.length;
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		await expect.poll(() => running.acknowledged.length, soon).toBeGreaterThan(20);
		await checkAll(session, [0, ...(await running.stop())]);
	}, 120_000);

	it("loses and repeats nothing when it is killed and started again under load", async () => {
		const session = await open().openOrCreate(place.workDir, id);
		await commitStep(session, 0);
		const running = load(session);
		for (let round = 1; round <= 2; round += 1) {
			const before = running.acknowledged.length;
			await expect.poll(() => running.acknowledged.length, soon).toBeGreaterThan(before + 20);
			await server.kill();
			await server.start();
		}
		const before = running.acknowledged.length;
		await expect.poll(() => running.acknowledged.length, soon).toBeGreaterThan(before + 20);
		await checkAll(session, [0, ...(await running.stop())]);
	}, 180_000);

	it("stores a commit once whose answer was lost", async () => {
		const session = await open(longLease, throughProxy()).openOrCreate(place.workDir, id);
		await commitStep(session, 1);
		proxy.cutAnswerTo("context_generation");
		expect(await commitStep(session, 2)).toBe(2);
		expect(proxy.cuts).toBe(1);
		// Without events, the number of writes says that it is stored.
		proxy.cutAnswerTo("context_generation");
		await session.commit({ state: { planMode: true } }, { sync: true });
		expect(proxy.cuts).toBe(2);
		expect(await commitStep(session, 3)).toBe(3);
		await checkAll(session, [1, 2, 3]);
		expect(session.state().planMode).toBe(true);
	});

	it("stores the creation of a session once whose answer was lost", async () => {
		const session = await open(longLease, throughProxy()).openOrCreate(place.workDir, id);
		proxy.cutAnswerTo("on conflict (id) do nothing");
		expect(await commitStep(session, 1)).toBe(1);
		expect(proxy.cuts).toBe(1);
		await checkAll(session, [1]);
	});

	it("gives the sessions up in time when nothing comes through any more, and goes on when it does", async () => {
		const lease = { duration: 1_500, interval: 300 };
		const store = open(lease, { ...throughProxy(), queryTimeout: 4_000, connectTimeout: 1_000 });
		const session = await store.openOrCreate(place.workDir, id);
		await commitStep(session, 1);
		proxy.swallow();
		await expect(commitStep(session, 2)).rejects.toMatchObject({ code: "storage-failed" });
		expect(await session.lost).toMatchObject({ message: expect.stringContaining("could not renew its lease") });
		// Another machine, which reaches the database.
		const other = place.openStore({ clock: systemClock, takeOver: "expired" });
		const taken = () =>
			other.open(place.workDir, id).then(
				(opened) => opened?.cursor().seq ?? null,
				() => null,
			);
		await expect.poll(taken, soon).toBe(1);
		proxy.heal();
		await expect.poll(() => store.processId().catch(() => null), soon).not.toBeNull();
	}, 90_000);

	it("goes on over new connections soon when nothing comes back on those that it has", async () => {
		const session = await open(longLease, throughProxy()).openOrCreate(place.workDir, id);
		await Promise.all([1, 2, 3, 4].map((n) => commitStep(session, n)));
		proxy.swallow();
		const committed = commitStep(session, 5);
		// As a firewall does that forgets its connections.
		await expect.poll(() => proxy.swallowed, soon).toBeGreaterThan(0);
		proxy.heal();
		const started = performance.now();
		expect(await committed).toBe(5);
		expect(performance.now() - started).toBeLessThan(10_000);
		await checkAll(session, [1, 2, 3, 4, 5]);
	}, 60_000);

	it("waits for a connection when all are in use, and renews its lease meanwhile", async () => {
		const database = place.openDatabase({ poolSize: 1, connectTimeout: 300 });
		const store = place.openStore({ clock: systemClock, lease: { duration: 3_000, interval: 300 }, database });
		const session = await store.openOrCreate(place.workDir, id);
		await commitStep(session, 1);
		let release = () => {};
		const isOver = new Promise<void>((resolve) => {
			release = resolve;
		});
		const holding = database.transaction(async (query) => {
			await query("select 1");
			await isOver;
		});
		await expect(database.query("select 1")).rejects.toMatchObject({ message: expect.stringContaining("pool_size") });
		const committed = commitStep(session, 2);
		await new Promise((resolve) => setTimeout(resolve, 4_000));
		release();
		await holding;
		expect(await committed).toBe(2);
	});

	it("goes on while newer tables are made, which it refuses only when it starts", async () => {
		const session = await open().openOrCreate(place.workDir, id);
		await commitStep(session, 0);
		const later = {
			number: 1 + migrations.length,
			text: (schema: string) => `alter table ${schema}.session add later text`,
		};
		const running = load(session);
		const database = place.openDatabase();
		const results = await Promise.all([0, 1].map(() => migrate(database, [...migrations, later])));
		expect(results.map(({ from }) => from - migrations.length).sort()).toEqual([0, 1]);
		const before = running.acknowledged.length;
		await expect.poll(() => running.acknowledged.length, soon).toBeGreaterThan(before + 8);
		const acknowledged = await running.stop();
		expect(await readAll(session)).toHaveLength(acknowledged.length + 1);
		await expect(open().openOrCreate(place.workDir, "other")).rejects.toMatchObject({
			code: "storage-failed",
			message: expect.stringContaining("install a newer agentwire"),
		});
	});

	it("does not depend on the clock of the machine", async () => {
		let shift = 0;
		const clock = { ...systemClock, now: () => Date.now() + shift };
		const store = place.openStore({ clock, lease: { duration: 3_000, interval: 300 } });
		const session = await store.openOrCreate(place.workDir, id);
		for (const [index, moved] of [0, 86_400_000, -86_400_000, 0].entries()) {
			shift = moved;
			expect(await commitStep(session, index)).toBe(index + 1);
			await new Promise((resolve) => setTimeout(resolve, 900));
		}
		const worker = place.openStore({ takeOver: "expired" });
		await expect(worker.open(place.workDir, id)).rejects.toMatchObject({ code: "busy" });
	});
});
