import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../base/deferred.ts";
import { createDirectorySync, createNameSync } from "./name-sync.ts";

describe("the names of files", () => {
	it("of sessions that are created together are synced together, by a sync that begins after the request", async () => {
		const runs: { readonly directory: string; readonly end: ReturnType<typeof createDeferred<void>> }[] = [];
		const sync = createDirectorySync({
			syncDirectory(directory) {
				const end = createDeferred<void>();
				runs.push({ directory, end });
				return end.promise;
			},
		});
		let done = 0;
		const one = sync("/d").then(() => (done += 1));
		const others = [sync("/d"), sync("/d")].map((each) => each.then(() => (done += 1)));
		expect(runs.length).toBe(1);
		runs[0]?.end.resolve();
		await one;
		expect(done).toBe(1);
		await expect.poll(() => runs.length).toBe(2);
		runs[1]?.end.resolve();
		await Promise.all(others);
		expect(runs.map(({ directory }) => directory)).toEqual(["/d", "/d"]);
	});

	it("stay unsynced after a sync that failed", async () => {
		let isBroken = true;
		const sync = createDirectorySync({
			async syncDirectory() {
				if (isBroken) throw new Error("EIO: the disk is broken");
			},
		});
		const names = createNameSync(sync, { shareDir: "/share", directory: "/share/sessions/a" });
		names.nameMade("/share/sessions/a/journal.jsonl");
		await expect(names.sync()).rejects.toMatchObject({ code: "storage-failed" });
		expect(names.isSynced()).toBe(false);
		isBroken = false;
		await names.sync();
		expect(names.isSynced()).toBe(true);
	});

	it("of a directory that was removed are those of the one above; the session's own must be there", async () => {
		const asked: string[] = [];
		const gone = new Set(["/share/a/tasks/t", "/share/a/tasks"]);
		const names = createNameSync(
			async (directory) => {
				asked.push(directory);
				if (gone.has(directory)) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
			},
			{ shareDir: "/share", directory: "/share/a" },
		);
		names.nameMade("/share/a/tasks/t/spec.json");
		await names.sync();
		expect(asked).toEqual(["/share/a/tasks/t", "/share/a/tasks", "/share/a"]);
		gone.add("/share/a");
		names.nameMade("/share/a/journal.jsonl");
		await expect(names.sync()).rejects.toMatchObject({ code: "storage-failed" });
	});
});
