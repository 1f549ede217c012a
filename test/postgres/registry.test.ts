// Requests for workers in the tables of the store, when those who made or took them are gone.
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { DatabaseRegistry } from "../../src/cluster/registry.ts";
import type { Database } from "../../src/ports/store/postgres/database.ts";
import { createPostgresPlace, type PostgresPlace } from "../support/postgres/postgres-place.ts";

const url = inject("postgresUrl");
const anything = { owner: "", needs: [] };

describe.skipIf(url === "")("requests for workers", () => {
	let place: PostgresPlace;
	let database: Database;
	let registry: DatabaseRegistry;
	beforeEach(async () => {
		place = await createPostgresPlace(url);
		database = place.openDatabase();
		registry = new DatabaseRegistry(database);
	});
	afterEach(() => place.cleanUp());

	/** A process that lives; a worker when it has an address. */
	const addProcess = async (address: string | null = null): Promise<string> => {
		const id = await place.openStore().processId();
		const announced = { id, address: address ?? "", secret: "s", fingerprint: null, tags: [], isEnding: false };
		if (address !== null) await registry.announce(announced);
		return id;
	};
	const endLease = (id: string) =>
		database.query(`update ${database.schema}.process set lease_until = now() - interval '1 second' where id = $1`, [
			id,
		]);
	const waiting = async () => (await database.query(`select id from ${database.schema}.placement`)).length;

	it("are taken once, each by one worker", async () => {
		const [front, one, two] = [await addProcess(), await addProcess("127.0.0.1:1"), await addProcess("127.0.0.1:2")];
		const ids: string[] = [];
		for (let n = 0; n < 6; n += 1) ids.push(await registry.ask(anything, front));
		const taken: string[] = [];
		while (taken.length < ids.length) {
			const claims = await Promise.all([one, two, one, two].map((worker) => registry.claim(worker, [], 2)));
			taken.push(...claims.flat());
		}
		expect(taken.sort()).toEqual(ids.sort());
	});

	it("are not told of a worker that ends meanwhile as of a process that is none", async () => {
		const store = place.openStore();
		const id = "11111111-1111-4111-8111-111111111111";
		const session = await store.openOrCreate("/work", id);
		await session.establish();
		const holder = await store.processId();
		const announced = { id: holder, address: "127.0.0.1:1", secret: "s", fingerprint: null, tags: [], isEnding: true };
		await registry.announce(announced);
		const ending: Database = {
			...database,
			query: async (...statement) => {
				const rows = await database.query(...statement);
				await endLease(holder);
				return rows;
			},
		};
		expect(await new DatabaseRegistry(ending).find(id)).toMatchObject({ worker: { id: holder }, holder: null });
		expect(await registry.find(id)).toMatchObject({ worker: null, holder: null });
	});

	it("are taken by another worker when the first one is gone", async () => {
		const [front, one, two] = [await addProcess(), await addProcess("127.0.0.1:1"), await addProcess("127.0.0.1:2")];
		const id = await registry.ask(anything, front);
		expect(await registry.claim(one, [], 5)).toEqual([id]);
		expect(await registry.claim(two, [], 5)).toEqual([]);
		await endLease(one);
		expect(await registry.answer(id)).toBeNull();
		expect(await registry.claim(two, [], 5)).toEqual([id]);
		expect(await registry.answer(id)).toMatchObject({ id: two });
	});

	it("are left alone, and then removed, when nobody waits for them any more", async () => {
		const [front, worker] = [await addProcess(), await addProcess("127.0.0.1:1")];
		await registry.ask(anything, front);
		await endLease(front);
		expect(await registry.claim(worker, [], 5)).toEqual([]);
		expect(await waiting()).toBe(1);
		await registry.sweep();
		expect(await waiting()).toBe(0);
	});
});
