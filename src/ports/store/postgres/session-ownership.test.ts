// Who may write a session: one process at a time, checked by the statement that writes.
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createPostgresPlace, type PostgresPlace } from "../../../../test/support/postgres/postgres-place.ts";
import { systemClock } from "../../../base/clock.ts";
import { KernelError } from "../../../base/errors.ts";
import type { SessionStore } from "../session-store.ts";
import { viewShared } from "../shared-session.ts";

const url = inject("postgresUrl");
const id = "11111111-2222-4333-8444-555555555555";
const step = (n: number) => ({ events: [eventAt({ type: "step.started", n })] });
const turn = (type: "turn.started" | "turn.ended") => ({
	...eventAt(type === "turn.started" ? { type, input: "hi" } : { type, outcome: { status: "finished" } }),
	turnId: "t",
});

describe.skipIf(url === "")("the ownership of a session in PostgreSQL", () => {
	let place: PostgresPlace;
	beforeEach(async () => {
		place = await createPostgresPlace(url);
	});
	afterEach(() => place.cleanUp());

	it("passes at once between processes that prompt in turn, and from a running turn by name alone", async () => {
		const stores = [place.openStore(), place.openStore()] as const;
		const session = await stores[0].openOrCreate(place.workDir, id);
		await session.commit({ events: [turn("turn.started")], context: { kind: "append", rows: [promptRow] } });
		const open = async (store: SessionStore) => {
			const shared = await viewShared({ store, workDir: place.workDir, id });
			if (shared === null) throw new Error("no session");
			return shared;
		};
		const [left, right] = [await open(stores[0]), await open(stores[1])];
		await expect(right.claim()).rejects.toMatchObject({
			code: "busy",
			message: expect.stringContaining("running elsewhere"),
		});
		await session.commit({ events: [turn("turn.ended")] });
		await right.claim();
		await expect(session.commit(step(1))).rejects.toMatchObject({ code: "storage-failed" });
		await right.commit({ events: [turn("turn.started")] });
		await left.refresh();
		expect([left.cursor().seq, left.isClaimed]).toEqual([3, false]);
		await left.claim(true);
		await expect(right.commit(step(2))).rejects.toMatchObject({ code: "storage-failed" });
		await left.commit({ events: [turn("turn.ended")] });
		await right.claim();
		expect(right.cursor().seq).toBe(4);
	});

	it("is refused to a worker while another process renews its lease, naming that one", async () => {
		const first = place.openStore();
		const session = await first.openOrCreate(place.workDir, id);
		await session.commit(step(1));
		const worker = place.openStore({ takeOver: "expired" });
		await expect(worker.openOrCreate(place.workDir, id)).rejects.toMatchObject({
			code: "busy",
			data: { holder: await first.processId() },
		});
		await session.close();
		const taken = await worker.openOrCreate(place.workDir, id);
		expect((await taken.commit(step(2)))[0]?.seq).toBe(2);
	});

	it("passes to a worker once the lease of the other process has run out, which then writes nothing", async () => {
		const lease = { duration: 300, interval: 100 };
		// Its timers do not run, as if it were stopped.
		const stopped = await place.openStore({ lease }).openOrCreate(place.workDir, id);
		await stopped.commit(step(1));
		const worker = place.openStore({ takeOver: "expired", clock: systemClock });
		await expect.poll(() => worker.open(place.workDir, id).catch(() => null), { timeout: 5_000 }).not.toBeNull();
		await expect(stopped.commit(step(2))).rejects.toMatchObject({ code: "storage-failed" });
		const holder = await worker.openOrCreate(place.workDir, id);
		expect((await readAll(holder)).map(({ body }) => body)).toEqual([{ type: "step.started", n: 1 }]);
	});

	it("is given up by a process whose lease ran out, although nobody took the session, and begins anew", async () => {
		const store = place.openStore({ lease: { duration: 200, interval: 100 } });
		const session = await store.openOrCreate(place.workDir, id);
		await session.commit(step(1));
		const before = await store.processId();
		const database = place.openDatabase();
		await expect
			.poll(async () => {
				const [row] = await database.query(`select lease_until < now() as over from ${database.schema}.process`);
				return row?.["over"];
			})
			.toBe(true);
		await expect(session.commit(step(2))).rejects.toMatchObject({
			code: "storage-failed",
			message: expect.stringContaining("could not renew its lease"),
		});
		expect(await session.lost).toMatchObject({ code: "storage-failed" });
		expect(await store.processId()).not.toBe(before);
		const again = await store.openOrCreate(place.workDir, id);
		expect((await again.commit(step(3)))[0]?.seq).toBe(2);
	});

	it("is given back by a process that takes the session and cannot read it", async () => {
		const session = await place.openStore().openOrCreate(place.workDir, id);
		await session.commit(step(1));
		await session.close();
		const database = place.openDatabase();
		const broken = new KernelError("storage-failed", "The database is away.");
		const isOfOpening = (text: string) => text.includes("context_row r");
		let failures = 1;
		const worker = place.openStore({
			takeOver: "expired",
			database: {
				...database,
				async query(text, ...more) {
					const isGivingBack = text.includes("holder = null where") && failures > 0;
					if (isGivingBack) failures -= 1;
					if (isGivingBack || isOfOpening(text)) throw broken;
					return await database.query(text, ...more);
				},
			},
		});
		await expect(worker.open(place.workDir, id)).rejects.toBe(broken);
		const other = place.openStore({ takeOver: "expired" });
		await expect(other.open(place.workDir, id)).rejects.toMatchObject({ code: "busy" });
		place.passTime();
		// Long before the lease of the process runs out.
		const patience = { timeout: 5_000 };
		await expect.poll(() => other.open(place.workDir, id).catch(() => null), patience).not.toBeNull();
	});

	it("stays with a process that renews its lease for longer than it lasts", async () => {
		const lease = { duration: 600, interval: 100 };
		const store = place.openStore({ lease, clock: systemClock });
		const session = await store.openOrCreate(place.workDir, id);
		await session.commit(step(1));
		const worker = place.openStore({ takeOver: "expired" });
		const end = performance.now() + 1_500;
		while (performance.now() < end) {
			await expect(worker.open(place.workDir, id)).rejects.toMatchObject({ code: "busy" });
		}
		expect((await session.commit(step(2)))[0]?.seq).toBe(2);
	});

	it("is lost at once to another opening in the same process", async () => {
		const store = place.openStore();
		const stale = await store.openOrCreate(place.workDir, id);
		await stale.commit(step(1));
		const holder = await store.openOrCreate(place.workDir, id);
		expect(await stale.lost).toMatchObject({ code: "storage-failed" });
		await expect(stale.commit(step(2))).rejects.toMatchObject({ code: "storage-failed" });
		await holder.commit(step(3));
		expect((await readAll(holder)).map(({ seq }) => seq)).toEqual([1, 2]);
	});

	it("goes to one of two processes that make the session of the same id", async () => {
		const [one, other] = await Promise.all([0, 1].map(() => place.openStore().openOrCreate(place.workDir, id)));
		const results = await Promise.allSettled([one?.commit(step(1)), other?.commit(step(2))]);
		expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
		const reader = place.openStore();
		const events = [];
		for await (const batch of reader.readEvents(place.workDir, id)) events.push(...batch);
		expect(events).toHaveLength(1);
	});

	it("covers subagents, tasks and notifications", async () => {
		const stale = await place.openStore().openOrCreate(place.workDir, id);
		await stale.commit({ context: { kind: "append", rows: [promptRow] } });
		const description = { type: "coder", description: "d", createdAt: 1, modelOverride: null, effectiveModel: null };
		const agent = await stale.createAgent({ ...description, id: "a1" });
		await agent.begin("Go");
		const holder = await place.openStore().openOrCreate(place.workDir, id);
		for (const write of [
			() => agent.setStatus("completed"),
			() => agent.changeContext({ kind: "append", rows: [promptRow] }),
			() => agent.appendOutput("x"),
		]) {
			await expect(write()).rejects.toMatchObject({ code: "storage-failed" });
		}
		expect((await holder.openAgent("a1"))?.contextRows).toEqual([]);
		// No subagent outlives the process that ran it.
		const database = place.openDatabase();
		expect(await database.query(`select status from ${database.schema}.agent`)).toEqual([{ status: "failed" }]);
	});

	it("is refused for another work directory, because an id names one session", async () => {
		const session = await place.openStore().openOrCreate(place.workDir, id);
		await session.commit(step(1));
		await expect(place.openStore().openOrCreate("/elsewhere", id)).rejects.toMatchObject({
			code: "busy",
			message: expect.stringContaining(place.workDir),
		});
	});

	it("of a session that a dead process was making is no obstacle", async () => {
		const lease = { duration: 200, interval: 100 };
		const dying = place.openStore({ lease });
		let begun = () => {};
		const isBegun = new Promise<void>((resolve) => {
			begun = resolve;
		});
		void dying
			.create(place.workDir, id, async (session) => {
				await session.commit(step(1));
				begun();
				await new Promise(() => {});
			})
			.catch(() => undefined);
		await isBegun;
		await expect(place.openStore().create(place.workDir, id, (session) => session.establish())).rejects.toMatchObject({
			code: "busy",
		});
		const later = place.openStore({ clock: systemClock });
		await expect
			.poll(() =>
				later
					.create(place.workDir, id, (session) => session.establish())
					.then(
						() => "made",
						() => "refused",
					),
			)
			.toBe("made");
		expect(await later.workDirOf(id)).toBe(place.workDir);
	});
});
