import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { EventBody } from "../../api/values/event.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import type { Files } from "../files/port.ts";
import { createDiskStore } from "./disk/disk-store.ts";
import type { SessionStore } from "./session-store.ts";
import { viewShared } from "./shared-session.ts";

const place = { workDir: "/work", id: "s" };
const event = (turnId: string, body: EventBody) => ({ sessionId: "s", turnId, agentPath: [], at: 1, body });
const started = (turnId: string) => event(turnId, { type: "turn.started", input: "hi" });
const ended = (turnId: string) => event(turnId, { type: "turn.ended", outcome: { status: "finished" } });

/** Stores of two processes over the same files, with a session that has had a turn. Both are this process by their leases. */
async function createStores(files: Files = createMemoryFiles()): Promise<readonly [SessionStore, SessionStore]> {
	const create = () =>
		createDiskStore({ files, shareDir: "/share", log: silentLog, clock: systemClock, protocolVersion: "1.10" });
	const stores = [create(), create()] as const;
	const session = await stores[0].openOrCreate(place.workDir, place.id);
	await session.commit({
		events: [started("a"), ended("a")],
		context: { kind: "append", rows: [{ type: "message", message: { role: "user", content: [] } }] },
	});
	await session.close();
	return stores;
}

async function open(store: SessionStore) {
	const session = await viewShared({ store, ...place });
	if (session === null) throw new Error("no session");
	return session;
}

describe("a session that two processes have open", () => {
	it("is read without being taken, as it is stored at that moment", async () => {
		const [one, two] = await createStores();
		const [owner, reader] = [await open(one), await open(two)];
		await owner.claim();
		await owner.commit({ events: [started("b")] });
		let changes = 0;
		reader.onChanged(() => {
			changes += 1;
		});
		await reader.refresh();
		await reader.refresh();
		expect([changes, reader.cursor().seq, reader.summary.openTurn]).toEqual([1, 3, "b"]);
		await owner.commit({ events: [ended("b")] });
		expect([owner.isClaimed, reader.isClaimed]).toEqual([true, false]);
		expect(await two.owner(place.workDir, place.id)).toEqual({ name: `process ${process.pid}`, pid: null });
	});

	it("is not read again by whoever claims it, unless another process has written it since", async () => {
		const memory = createMemoryFiles();
		const reads: string[] = [];
		const files: Files = {
			...memory,
			read: (target, limit) => {
				reads.push(target);
				return memory.read(target, limit);
			},
			admitting: () => files,
		};
		const [one, two] = await createStores(files);
		const session = await open(one);
		reads.length = 0;
		let changes = 0;
		session.onChanged(() => {
			changes += 1;
		});
		await session.claim();
		expect([reads, changes]).toEqual([[], 0]);
		await session.close();

		const stale = await open(one);
		const other = await open(two);
		await other.claim();
		await other.commit({ events: [started("b"), ended("b")] });
		await other.close();
		await stale.claim();
		expect(stale.cursor().seq).toBe(4);
		await stale.commit({ events: [started("c")] });
		expect(stale.cursor().seq).toBe(5);
	});

	it("refuses what is written without a claim, and stores what it was opened with after one", async () => {
		const [one] = await createStores();
		const session = await open(one);
		await expect(session.commit({ events: [started("b")] })).rejects.toMatchObject({ code: "storage-failed" });
		await session.commit({ state: { customTitle: "mine" } }, { whenClaimed: true });
		expect(session.state().customTitle).toBe("mine");
		await session.claim();
		await session.commit({ events: [started("b")] });
		await session.close();
		expect((await open(one)).state().customTitle).toBe("mine");
	});

	it("is claimed in turn while no turn runs, and read again", async () => {
		const [one, two] = await createStores();
		const [left, right] = [await open(one), await open(two)];
		for (const [n, session] of [left, right, left].entries()) {
			await session.claim();
			expect(session.cursor().seq).toBe(2 + 2 * n);
			await session.commit({ events: [started(`t${n}`), ended(`t${n}`)] });
		}
	});

	it("is claimed from a running turn by name alone, which loses it", async () => {
		const [one, two] = await createStores();
		const [owner, other] = [await open(one), await open(two)];
		await owner.claim();
		await owner.commit({ events: [started("b")] });
		const losses: string[] = [];
		owner.onLost(({ message }) => losses.push(message));
		await expect(other.claim()).rejects.toMatchObject({
			code: "busy",
			data: { running_elsewhere: `process ${process.pid}` },
		});
		await owner.commit({ events: [event("b", { type: "step.started", n: 1 })] });
		await other.claim(true);
		await expect(owner.commit({ events: [ended("b")] })).rejects.toMatchObject({ code: "storage-failed" });
		expect(losses).toHaveLength(1);
		expect(other.cursor().seq).toBe(4);
	});
});
