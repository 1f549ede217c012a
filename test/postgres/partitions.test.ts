// The tables of events and contexts divided by session, as docs/guides/scale.md offers it for one large database.
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import type { ContextRow } from "../../src/api/values/conversation.ts";
import { migrate } from "../../src/ports/store/postgres/schema-version.ts";
import { checkStore } from "../../src/ports/store/postgres/store-check.ts";
import { eventAt, promptRow, readAll } from "../contracts/store-contract.ts";
import { createPostgresPlace, type PostgresPlace } from "../support/postgres/postgres-place.ts";

const url = inject("postgresUrl");
const partitions = 4;
const ids = Array.from({ length: 12 }, (_, index) => `session-${index}`);

describe.skipIf(url === "")("tables with partitions", () => {
	let place: PostgresPlace;
	beforeEach(async () => {
		place = await createPostgresPlace(url);
	});
	afterEach(() => place.cleanUp());

	it("hold sessions, whose contexts are replaced without touching those of others", async () => {
		const database = place.openDatabase();
		const { schema } = database;
		await migrate(database);
		for (const table of ["event", "context_row"]) {
			await database.query(`alter table ${schema}.${table} rename to whole_${table}`);
			await database.query(
				`create table ${schema}.${table} (like ${schema}.whole_${table} including all) partition by hash (session_id)`,
			);
			for (let part = 0; part < partitions; part += 1) {
				await database.query(
					`create table ${schema}.${table}_${part} partition of ${schema}.${table} for values with (modulus ${partitions}, remainder ${part})`,
				);
			}
			await database.query(`drop table ${schema}.whole_${table}`);
		}
		const store = place.openStore();
		const own = (id: string, n: number): ContextRow => ({
			type: "message",
			message: { role: "user", content: [{ type: "text", text: `${id} ${n}` }] },
		});
		const sessions = await Promise.all(ids.map((id) => store.openOrCreate(place.workDir, id)));
		for (const session of sessions) {
			await session.commit({
				events: [{ ...eventAt({ type: "step.started", n: 1 }), sessionId: session.id }],
				context: { kind: "append", rows: [promptRow, own(session.id, 1), own(session.id, 2)] },
			});
		}
		// Half of them: the others have rows at the same places.
		const replaced = sessions.filter((_, index) => index % 2 === 0);
		for (const session of replaced) {
			await session.commit({ context: { kind: "replace", rows: [promptRow, own(session.id, 3)] } }, { sync: true });
		}
		const oldRows = () =>
			database.query(
				`select 1 from ${schema}.context_row r join ${schema}.session s on s.id = r.session_id
				where r.generation < s.context_generation`,
			);
		await expect.poll(async () => (await oldRows()).length).toBe(0);
		await Promise.all(sessions.map((session) => session.close()));
		for (const [index, id] of ids.entries()) {
			const session = await store.openOrCreate(place.workDir, id);
			const numbers = index % 2 === 0 ? [3] : [1, 2];
			expect(session.contextRows).toEqual([promptRow, ...numbers.map((n) => own(id, n))]);
			expect(await readAll(session)).toHaveLength(1);
		}
		expect((await checkStore(database)).problems).toEqual([]);
	});
});
