// Deleting a session from disk: nothing of it remains, and at no moment of it a half of one is found (docs/explanation/guarantees.md).
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles, type Mishap } from "../../../../test/support/store/failing-files.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { withoutSync } from "../../files/unsynced-files.ts";

/** Whether names are on stable storage is not what these tests are about. */
const diskFiles = () => withoutSync(createDiskFiles());
const id = "11111111-2222-4333-8444-555555555555";
/** The number of no living process. */
const deadProcess = 2 ** 30;

describe("the deletion of a session on disk", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	const openStore = () => place.openStore({ files: diskFiles() });
	/** A session with content, in its directory or in the layout before those; gives the directory. */
	const fill = async (layout: "present" | "old" | "both" = "present"): Promise<string> => {
		const session = await openStore().openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.commit({ events: [eventAt({ type: "turn.started", input: "Do it." })] });
		await session.commit({ state: { customTitle: "Named" } });
		await session.close();
		const directory = String(session.directory);
		if (layout === "old") await rename(path.join(directory, "context.jsonl"), `${directory}.jsonl`);
		if (layout === "both") await writeFile(`${directory}.jsonl`, '{"role":"user","content":"older"}\n');
		return directory;
	};
	const leaseOf = (directory: string) =>
		path.join(place.shareDir, "leases", `${path.basename(path.dirname(directory))}-${id}.json`);
	const leftIn = async (directory: string) => (existsSync(directory) ? await readdir(directory) : []);
	const deleted = () => path.join(place.shareDir, "sessions", "deleted");

	it.each(["present", "old", "both"] as const)("leaves no file (layout: %s)", async (layout) => {
		const directory = await fill(layout);
		await mkdir(path.join(directory, "tasks", "x"), { recursive: true });
		await writeFile(path.join(directory, "foreign.txt"), "x");
		await openStore().delete(place.workDir, id);
		expect(await readdir(path.dirname(directory))).toEqual([]);
		expect([await leftIn(deleted()), await leftIn(path.join(place.shareDir, "leases"))]).toEqual([[], []]);
	});

	it("is refused while a living process has the session open, and names it", async () => {
		const directory = await fill();
		await mkdir(path.dirname(leaseOf(directory)), { recursive: true });
		await writeFile(leaseOf(directory), JSON.stringify({ pid: process.ppid, token: "x" }));
		await expect(openStore().delete(place.workDir, id)).rejects.toMatchObject({
			code: "busy",
			message: `The session ${id} cannot be deleted, because it is open in another process (${process.ppid}): close it there first. Its lease is ${leaseOf(directory)}.`,
		});
		expect(await readdir(directory)).toContain("journal.jsonl");
		await writeFile(leaseOf(directory), JSON.stringify({ pid: deadProcess, token: "x" }));
		await openStore().delete(place.workDir, id);
		expect(existsSync(directory)).toBe(false);
	});

	it("leaves nothing to open to a process that has seen the session before", async () => {
		const directory = await fill();
		const disk = diskFiles();
		const late = {
			...disk,
			async create(target: string, content: string) {
				// It comes to the lease only now.
				if (target === leaseOf(directory)) await openStore().delete(place.workDir, id);
				return await disk.create(target, content);
			},
		};
		expect(await place.openStore({ files: late }).open(place.workDir, id)).toBeNull();
		expect([existsSync(directory), existsSync(leaseOf(directory))]).toEqual([false, false]);
	});

	it("removes a link in the place of a session, and not what it leads to", async () => {
		const directory = await fill();
		const elsewhere = path.join(place.root, "elsewhere");
		await rename(directory, elsewhere);
		await symlink(elsewhere, directory);
		await openStore().delete(place.workDir, id);
		expect(existsSync(directory)).toBe(false);
		expect(await readdir(elsewhere)).toContain("journal.jsonl");
	});

	it("says what could not be removed, and can be repeated", async () => {
		const directory = await fill();
		const { files } = createFailingFiles(diskFiles(), {
			at: ({ kind }) => kind === "rename",
			mishap: { kind: "fail", code: "EACCES", once: true },
		});
		await expect(place.openStore({ files }).delete(place.workDir, id)).rejects.toMatchObject({
			code: "storage-failed",
			message: expect.stringContaining(`Cannot delete the session in ${directory}: EACCES`),
		});
		await openStore().delete(place.workDir, id);
		expect(existsSync(directory)).toBe(false);
	});

	/** Deletes with a mishap at this effect; whether there were so many. */
	const deleteUntil = async (at: number, mishap: Mishap): Promise<boolean> => {
		const failing = createFailingFiles(diskFiles(), { at, mishap });
		await place
			.openStore({ files: failing.files })
			.delete(place.workDir, id)
			.catch((thrown: unknown) => expect(String(thrown)).toMatch(/stopped/i));
		return failing.struck;
	};

	it.each(["present", "old", "both"] as const)(
		"leaves the whole session or none when the process is killed, and is finished later (layout: %s)",
		async (layout) => {
			let wasStruck = true;
			const outcomes = new Set<string>();
			for (let at = 1; wasStruck; at += 1) {
				for (const when of ["before", "after"] as const) {
					const directory = await fill(layout);
					wasStruck = await deleteUntil(at, { kind: "stop", when, manner: "throw" });
					// The process is gone.
					if (existsSync(leaseOf(directory))) {
						await writeFile(leaseOf(directory), JSON.stringify({ pid: deadProcess, token: "x" }));
					}
					const store = openStore();
					const isListed = (await store.list({ workDir: place.workDir })).sessions.length === 1;
					const isOpened = (await store.readContext(place.workDir, id)) !== null;
					expect([isListed, isOpened, await store.workDirOf(id)]).toEqual(
						isListed ? [true, true, place.workDir] : [false, false, null],
					);
					if (isListed) {
						const session = await store.openOrCreate(place.workDir, id);
						expect(session.contextRows).toEqual([promptRow]);
						expect(await readAll(session)).toHaveLength(1);
						expect(session.state().customTitle).toBe("Named");
						await session.close();
					} else expect(await store.lastSessionId(place.workDir)).toBeNull();
					outcomes.add(isListed ? "whole" : "none");
					await store.delete(place.workDir, id);
					expect([await readdir(path.dirname(directory)), await leftIn(deleted())]).toEqual([[], []]);
				}
			}
			expect([...outcomes].sort()).toEqual(["none", "whole"]);
		},
	);

	it("is finished by the next process that writes a session", async () => {
		await mkdir(path.join(deleted(), "0123456789abcdef01", "tasks"), { recursive: true });
		await fill();
		expect(await leftIn(deleted())).toEqual([]);
	});
});
