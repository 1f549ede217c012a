import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import { systemClock } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";
import { createSessionIndex } from "./session-index.ts";

describe("kimi.json", () => {
	let place: StoreDirectory;
	let indexPath: string;

	beforeEach(async () => {
		place = await createStoreDirectory();
		indexPath = path.join(place.shareDir, "kimi.json");
		await mkdir(place.shareDir);
	});
	afterEach(() => place.cleanUp());

	const create = (log = createMemoryLog(), files = createDiskFiles()) =>
		createSessionIndex({ files, shareDir: place.shareDir, log, clock: systemClock });

	it("is indented, and preserves unknown keys", async () => {
		const others = [
			{ path: "/a", kaos: "ssh", last_session_id: "far" },
			"odd",
			{ path: "/a", kaos: "local", last_session_id: "near", pinned: true },
		];
		await writeFile(indexPath, JSON.stringify({ work_dirs: others, theme: "dark" }));
		const index = create();
		expect(await index.lastSessionId("/a")).toBe("near");
		await index.setLastSession("/a", "new");
		await index.register("/b");
		expect(await readFile(indexPath, "utf8")).toBe(
			JSON.stringify(
				{
					work_dirs: [
						others[0],
						"odd",
						{ path: "/a", kaos: "local", last_session_id: "new", pinned: true },
						{ path: "/b", kaos: "local", last_session_id: null },
					],
					theme: "dark",
				},
				null,
				2,
			),
		);
		expect(await readdir(place.shareDir)).toEqual(["kimi.json"]);
	});

	it("clears a last session only if it is the given one", async () => {
		const index = create();
		await index.setLastSession("/a", "one");
		await index.clearLastSession("/a", "other");
		expect(await index.lastSessionId("/a")).toBe("one");
		await index.clearLastSession("/a", "one");
		expect(await index.lastSessionId("/a")).toBeNull();
	});

	it("is not written when nothing changes", async () => {
		const content = '{"work_dirs":[{"path":"/a","last_session_id":"one"}]}';
		await writeFile(indexPath, content);
		const index = create();
		await index.register("/a");
		await index.setLastSession("/a", "one");
		await index.clearLastSession("/b", "one");
		expect(await readFile(indexPath, "utf8")).toBe(content);
	});

	it.each(['{"work_dirs": [', "[]", '{"work_dirs": 3}', ""])("keeps a damaged file aside (%j)", async (content) => {
		await writeFile(indexPath, content);
		await writeFile(`${indexPath}.damaged-1`, "older");
		const log = createMemoryLog();
		const index = create(log);
		expect(await index.lastSessionId("/a")).toBeUndefined();
		expect(await readFile(indexPath, "utf8")).toBe(content);
		await index.setLastSession("/a", "one");
		expect(await readFile(`${indexPath}.damaged-2`, "utf8")).toBe(content);
		expect(await readFile(`${indexPath}.damaged-1`, "utf8")).toBe("older");
		expect(await index.lastSessionId("/a")).toBe("one");
		expect(log.lines.map((line) => line.level)).toEqual(["warn", "warn"]);
	});

	it("loses no work directory when another program was stopped while it wrote the file", async () => {
		const entries = ["/a", '/b "c"', "/d"].map((name) => ({
			path: name,
			kaos: "local",
			last_session_id: `of ${name}`,
		}));
		const whole = JSON.stringify({ work_dirs: entries }, null, 2);
		const cut = whole.slice(0, whole.indexOf('"/d"') + 5);
		await writeFile(indexPath, cut);
		const index = create();
		expect(await index.workDirs()).toEqual(["/a", '/b "c"', "/d"]);
		expect(await index.lastSessionId('/b "c"')).toBe('of /b "c"');
		expect(await index.lastSessionId("/d")).toBeNull();
		expect(await index.lastSessionId("/e")).toBeUndefined();
		await index.register("/a");
		expect(await create().workDirs()).toEqual(["/a", '/b "c"', "/d"]);
		expect(JSON.parse(await readFile(indexPath, "utf8"))).toEqual({
			work_dirs: [...entries.slice(0, 2), { path: "/d", kaos: "local", last_session_id: null }],
		});
		expect(await readFile(`${indexPath}.damaged-1`, "utf8")).toBe(cut);
	});

	it("is not read again for a change that changes nothing, once it was warmed up", async () => {
		await create().setLastSession("/a", "one");
		// As a file that was written a while ago.
		const past = new Date(Date.now() - 60_000);
		await utimes(indexPath, past, past);
		let reads = 0;
		const disk = createDiskFiles();
		const files = {
			...disk,
			read(file: string) {
				reads += 1;
				return disk.read(file);
			},
		};
		const index = create(createMemoryLog(), files);
		await index.warmUp();
		expect(reads).toBe(1);
		await index.register("/a");
		await index.setLastSession("/a", "one");
		expect(reads).toBe(1);
		await create().setLastSession("/a", "two");
		await index.setLastSession("/a", "one");
		expect(await create().lastSessionId("/a")).toBe("one");
	});

	it("is read ahead once for many sessions, and not while it changes", async () => {
		await create().register("/a");
		const disk = createDiskFiles();
		let reads = 0;
		const files = {
			...disk,
			read(file: string) {
				reads += 1;
				return disk.read(file);
			},
		};
		const index = create(createMemoryLog(), files);
		const future = new Date(Date.now() + 3_600_000);
		await utimes(indexPath, future, future);
		await Promise.all([index.warmUp(), index.warmUp()]);
		expect(reads).toBe(0);
		const past = new Date(Date.now() - 60_000);
		await utimes(indexPath, past, past);
		await Promise.all([index.warmUp(), index.warmUp(), index.warmUp()]);
		expect(reads).toBe(1);
	});

	it("takes no lock for a change that changes nothing, even right after another one", async () => {
		const { files, effects } = createFailingFiles(createDiskFiles());
		const index = create(createMemoryLog(), files);
		await index.setLastSession("/a", "one");
		const future = new Date(Date.now() + 3_600_000);
		await utimes(indexPath, future, future);
		const before = effects.length;
		await index.setLastSession("/a", "one");
		expect(effects).toHaveLength(before);
		await create().setLastSession("/a", "two");
		await index.setLastSession("/a", "one");
		expect(await create().lastSessionId("/a")).toBe("one");
	});

	it("loses no update of concurrent writers", async () => {
		const names = Array.from({ length: 12 }, (_, n) => `/dir-${n}`);
		await Promise.all(names.map((name) => create().setLastSession(name, `of ${name}`)));
		for (const name of names) expect(await create().lastSessionId(name)).toBe(`of ${name}`);
	});

	it("writes many concurrent changes in a few batches, in their order", async () => {
		const { files, effects } = createFailingFiles(createDiskFiles());
		const index = create(createMemoryLog(), files);
		const names = Array.from({ length: 50 }, (_, n) => `/dir-${n % 10}`);
		await Promise.all(names.map((name, n) => index.setLastSession(name, `session ${n}`)));
		for (let n = 40; n < 50; n += 1) expect(await create().lastSessionId(`/dir-${n - 40}`)).toBe(`session ${n}`);
		expect(effects.filter(({ kind }) => kind === "replace").length).toBeLessThanOrEqual(2);
	});

	describe("of sessions that have been the last one before", () => {
		const setUp = () => {
			const clock = createSteppingClock(0);
			const { files, effects } = createFailingFiles(createDiskFiles());
			const index = createSessionIndex({ files, shareDir: place.shareDir, log: createMemoryLog(), clock });
			return { clock, index, written: () => effects.filter(({ kind }) => kind === "replace").length };
		};
		const stored = () => create().lastSessionId("/a");

		it("is written at once, and then once for all that come within a second", async () => {
			const { clock, index, written } = setUp();
			await index.setLastSessionSoon("/a", "one");
			expect(await stored()).toBe("one");
			for (let n = 0; n < 100; n += 1) await index.setLastSessionSoon("/a", `session ${n}`);
			await index.setLastSessionSoon("/b", "other");
			expect(await stored()).toBe("one");
			clock.runBackground();
			await vi.waitUntil(async () => (await stored()) === "session 99");
			expect(await create().lastSessionId("/b")).toBe("other");
			// Both work directories in one replacement.
			expect(written()).toBe(2);
		});

		it("writes what waits when it is settled, and before it says which is the last", async () => {
			const { index } = setUp();
			await index.setLastSessionSoon("/a", "one");
			await index.setLastSessionSoon("/a", "two");
			await index.settle();
			expect(await stored()).toBe("two");
			await index.setLastSessionSoon("/a", "three");
			expect(await index.lastSessionId("/a")).toBe("three");
		});

		it("does not write late what a session alone in its process began before another process had its turn", async () => {
			const { clock, index, written } = setUp();
			await index.setLastSessionSoon("/a", "one");
			await index.setLastSessionSoon("/a", "one");
			await create().setLastSession("/a", "of another process");
			clock.runBackground();
			await index.settle();
			expect(await stored()).toBe("of another process");
			await index.setLastSessionSoon("/a", "one");
			expect(await stored()).toBe("one");
			await index.setLastSessionSoon("/a", "one");
			expect(written()).toBe(2);
		});

		it("is settled only when what is being written is written", async () => {
			const disk = createDiskFiles();
			const [begun, gate] = [createDeferred<void>(), createDeferred<void>()];
			let replacements = 0;
			const files: Files = {
				...disk,
				async replace(...replacement) {
					replacements += 1;
					if (replacements === 2) {
						begun.resolve();
						await gate.promise;
					}
					await disk.replace(...replacement);
				},
			};
			const clock = createSteppingClock(0);
			const index = createSessionIndex({ files, shareDir: place.shareDir, log: createMemoryLog(), clock });
			await index.setLastSessionSoon("/a", "one");
			await index.setLastSessionSoon("/a", "two");
			clock.runBackground();
			await begun.promise;
			const settled = index.settle().then(stored);
			const last = index.lastSessionId("/a");
			setImmediate(gate.resolve);
			expect(await settled).toBe("two");
			expect(await last).toBe("two");
		});

		it("does not write what was replaced or cleared while it waited", async () => {
			const { clock, index } = setUp();
			await index.setLastSessionSoon("/a", "one");
			await index.setLastSessionSoon("/a", "two");
			await index.setLastSession("/a", "new");
			clock.runBackground();
			await index.settle();
			expect(await stored()).toBe("new");
			await index.setLastSessionSoon("/a", "deleted");
			await index.clearLastSession("/a", "deleted");
			await index.settle();
			expect(await stored()).toBe("new");
		});
	});

	it("rejects each change that could not be written, and writes the next", async () => {
		const { files } = createFailingFiles(createDiskFiles(), {
			at: ({ kind }) => kind === "replace",
			mishap: { kind: "fail", code: "ENOSPC", once: true },
		});
		const index = create(createMemoryLog(), files);
		await expect(index.setLastSession("/a", "one")).rejects.toMatchObject({ code: "storage-failed" });
		await index.setLastSession("/a", "two");
		expect(await index.lastSessionId("/a")).toBe("two");
	});

	it("reads again what another writer changed between its read and its write", async () => {
		const files = createDiskFiles();
		let interfere = true;
		const slow = {
			...files,
			async create(target: string, content: string) {
				if (interfere) {
					interfere = false;
					await create().setLastSession("/other", "theirs");
				}
				return files.create(target, content);
			},
		};
		await create(createMemoryLog(), slow).setLastSession("/mine", "ours");
		expect(await create().lastSessionId("/other")).toBe("theirs");
		expect(await create().lastSessionId("/mine")).toBe("ours");
	});
});
