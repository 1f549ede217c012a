import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { createDiskFiles } from "./disk-files.ts";
import { ownOrigin, ownProcess } from "./living-process.ts";
import { withLock } from "./path-lock.ts";

/** More than any system gives out. */
const deadPid = 2 ** 30;
const elsewhere = { ...ownOrigin(), host: "web-2", namespace: "pid:[1]" };

describe("withLock", () => {
	const files = createDiskFiles();
	const start = 1_700_000_000_000;
	let root: string;
	let target: string;

	beforeEach(async () => {
		root = await mkdtemp(path.join(tmpdir(), "agentwire-lock-"));
		target = path.join(root, "file");
	});
	afterEach(() => rm(root, { recursive: true, force: true }));

	const hold = (owner: unknown): Promise<void> =>
		writeFile(`${target}.lock`, typeof owner === "string" ? owner : JSON.stringify(owner));

	it("lets one caller at a time work, and removes its file", async () => {
		let inside = 0;
		const port = { files, clock: systemClock };
		const results = await Promise.all(
			Array.from({ length: 8 }, (_, n) =>
				withLock(port, target, async () => {
					inside += 1;
					expect(inside).toBe(1);
					expect(JSON.parse(await readFile(`${target}.lock`, "utf8"))).toMatchObject(ownProcess());
					inside -= 1;
					return n;
				}),
			),
		);
		expect(results).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
		expect(await readdir(root)).toEqual([]);
	});

	it("releases the lock when the work fails", async () => {
		const port = { files, clock: createSteppingClock(start) };
		await expect(withLock(port, target, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
		expect(await readdir(root)).toEqual([]);
	});

	it.each([
		["of a dead process", { pid: deadPid, at: start }, 0],
		["older than ten seconds", { pid: process.pid, at: start - 10_001 }, 0],
		["of a living process", { pid: process.pid, at: start }, 3_000],
		["without a readable owner", "", 3_000],
		["of a process elsewhere, whatever lives here", { pid: deadPid, at: start, origin: elsewhere }, 3_000],
		["of one elsewhere, by its clock long ago", { pid: deadPid, at: start - 60_000, origin: elsewhere }, 3_000],
		["of an ended process here", { pid: deadPid, at: start, origin: ownOrigin() }, 0],
	])("takes over a lock %s", async (_, owner, waited) => {
		await hold(owner);
		const clock = createSteppingClock(start);
		expect(await withLock({ files, clock }, target, async () => "done")).toBe("done");
		expect(clock.waited).toBe(waited);
		expect(await readdir(root)).toEqual([]);
	});

	it("takes over a lock that is a link to nowhere, which exists and cannot be read", async () => {
		await symlink(path.join(root, "nowhere"), `${target}.lock`);
		const clock = createSteppingClock(start);
		expect(await withLock({ files, clock }, target, async () => "done")).toBe("done");
		expect(clock.waited).toBe(3_000);
		expect(await readdir(root)).toEqual([]);
	});

	it.each([
		["fresh", start, 1_000],
		["almost stale", start - 3_500, 510],
		["stale", start - 4_001, 0],
	])("waits as long as its options say for a lock that is %s", async (_, at, waited) => {
		await hold({ pid: process.pid, at });
		const clock = createSteppingClock(start);
		await withLock({ files, clock }, target, async () => {}, { staleAfter: 4_000, patience: 1_000 });
		expect(clock.waited).toBe(waited);
	});

	it("does not remove a lock that another process took over", async () => {
		await withLock({ files, clock: createSteppingClock(start) }, target, () => hold({ pid: 1, at: start }));
		expect(await readdir(root)).toEqual(["file.lock"]);
	});

	it("works without a lock when none can be created", async () => {
		const port = { files, clock: createSteppingClock(start) };
		expect(await withLock(port, path.join(root, "none/file"), async () => "done")).toBe("done");
	});
});
