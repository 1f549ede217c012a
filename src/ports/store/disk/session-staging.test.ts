// Creating a session with content: it is there as a whole or not at all, whatever goes wrong in the middle.
import { existsSync } from "node:fs";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles, type Mishap } from "../../../../test/support/store/failing-files.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { withoutSync } from "../../files/unsynced-files.ts";
import type { StoredSession } from "../session-store.ts";

/** Whether names are on stable storage is not what these tests are about. */
const diskFiles = () => withoutSync(createDiskFiles());
const id = "11111111-2222-4333-8444-555555555555";
/** The number of no living process. */
const deadProcess = 2 ** 30;
/** A time long ago, in seconds. */
const longAgo = 1_000_000_000;

async function fill(session: StoredSession): Promise<void> {
	await session.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
	await session.commit({ events: [eventAt({ type: "turn.ended", outcome: null })] });
	await session.commit({ context: { kind: "replace", rows: [promptRow] }, state: { customTitle: "Copy" } });
}

describe("a session on disk that is created with content", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	const openStore = () => place.openStore({ files: diskFiles() });
	const staged = () => path.join(place.shareDir, "sessions", "staged");
	const leases = () => path.join(place.shareDir, "leases");
	const leftIn = async (directory: string) => (existsSync(directory) ? await readdir(directory) : []);

	/** Creates it with a mishap at this effect; whether there were so many. */
	const createUntil = async (at: number, mishap: Mishap): Promise<boolean> => {
		const failing = createFailingFiles(diskFiles(), { at, mishap });
		await place
			.openStore({ files: failing.files })
			.create(place.workDir, id, fill)
			.catch((thrown: unknown) => expect(String(thrown)).toMatch(/stopped|ENOSPC/i));
		return failing.struck;
	};

	const expectWholeOrNone = async (): Promise<"whole" | "none"> => {
		const store = openStore();
		const isListed = (await store.list({ workDir: place.workDir })).sessions.length === 1;
		const isOpened = (await store.readContext(place.workDir, id)) !== null;
		expect([isListed, isOpened, await store.workDirOf(id)]).toEqual(
			isListed ? [true, true, place.workDir] : [false, false, null],
		);
		if (!isListed) return "none";
		const session = await store.openOrCreate(place.workDir, id);
		expect(session.contextRows).toEqual([promptRow]);
		expect(await readAll(session)).toHaveLength(2);
		expect(session.state().customTitle).toBe("Copy");
		await session.close();
		return "whole";
	};

	it("is whole or not there when the process is killed, and what remains is removed later", async () => {
		let wasStruck = true;
		const outcomes = new Set<string>();
		for (let at = 1; wasStruck; at += 1) {
			for (const when of ["before", "after"] as const) {
				wasStruck = await createUntil(at, { kind: "stop", when, manner: "throw" });
				// The process is gone.
				for (const name of await leftIn(leases())) {
					await writeFile(path.join(leases(), name), JSON.stringify({ pid: deadProcess, token: "x" }));
				}
				outcomes.add(await expectWholeOrNone());
				const store = openStore();
				await store.delete(place.workDir, id);
				for (const name of await leftIn(staged())) await utimes(path.join(staged(), name), longAgo, longAgo);
				await store.create(place.workDir, `${id}-next`, fill);
				expect(await leftIn(staged())).toEqual([]);
				await store.delete(place.workDir, `${id}-next`);
			}
		}
		expect([...outcomes].sort()).toEqual(["none", "whole"]);
	});

	it("is whole or not there when the disk is full, and leaves nothing", async () => {
		let wasStruck = true;
		for (let at = 1; wasStruck; at += 1) {
			wasStruck = await createUntil(at, { kind: "fail", code: "ENOSPC", once: true });
			await expectWholeOrNone();
			expect(await leftIn(staged())).toEqual([]);
			await openStore().delete(place.workDir, id);
		}
	});

	it("is not removed by another process while it is being created, however long that takes", async () => {
		await openStore().create(place.workDir, id, async (session) => {
			await fill(session);
			await utimes(String(session.directory), longAgo, longAgo);
			await openStore().create(place.workDir, `${id}-next`, fill);
		});
		expect(await expectListed()).toEqual([id, `${id}-next`]);
	});

	const expectListed = async () =>
		(await openStore().list({ workDir: place.workDir })).sessions.map((found) => found.id).sort();

	it("is not created in the directory of a session that another process is about to write", async () => {
		const session = await openStore().openOrCreate(place.workDir, id);
		const disk = diskFiles();
		let creation: Promise<void> | null = null;
		const files = {
			...disk,
			async makeDirectory(directory: string, mode?: number) {
				const isNew = await disk.makeDirectory(directory, mode);
				if (directory === session.directory && creation === null) {
					creation = openStore().create(place.workDir, id, fill);
					await creation.catch(() => undefined);
				}
				return isNew;
			},
		};
		const writer = await place.openStore({ files }).openOrCreate(place.workDir, id);
		await writer.commit({ context: { kind: "append", rows: [promptRow] } });
		await expect(creation).rejects.toMatchObject({
			code: "busy",
			message: `There is a session ${id} already, in ${session.directory}: choose another id.`,
		});
		await writer.close();
		expect(await openStore().readContext(place.workDir, id)).toEqual([promptRow]);
		expect([await leftIn(staged()), await leftIn(leases())]).toEqual([[], []]);
	});

	it("leaves foreign files in the place of unfinished sessions that are young", async () => {
		await mkdir(path.join(staged(), "other"), { recursive: true });
		await openStore().create(place.workDir, id, fill);
		expect(await leftIn(staged())).toEqual(["other"]);
	});
});
