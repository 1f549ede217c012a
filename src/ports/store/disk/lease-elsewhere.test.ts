// Leases whose holder cannot be seen from here: it runs in another container, or on another machine that shares the
// directory. Its process id says nothing here, whether a process of this machine has it or not.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { promptRow } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import type { Clock } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { ownOrigin } from "../../files/living-process.ts";
import type { Files } from "../../files/port.ts";
import { createDiskStore } from "./disk-store.ts";

const id = "11111111-2222-4333-8444-555555555555";
const elsewhere = { ...ownOrigin(), host: "web-2", namespace: "pid:[1]" };
/** The number of no living process here. */
const deadProcess = 2 ** 30;
const holder = { pid: deadProcess, token: "0123456789abcdef01", time: "", origin: elsewhere };

describe("a lease that was written elsewhere", () => {
	let place: StoreDirectory;
	let leases: string;
	beforeEach(async () => {
		place = await createStoreDirectory();
		leases = path.join(place.shareDir, "leases");
		const session = await place.openStore().openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
	});
	afterEach(() => place.cleanUp());

	const leaseFile = async () => {
		const [parent = ""] = await readdir(path.join(place.shareDir, "sessions"));
		return path.join(leases, `${parent}-${id}.json`);
	};
	const openFree = (clock: Clock) =>
		createDiskStore({
			files: createDiskFiles(),
			shareDir: place.shareDir,
			log: createMemoryLog(),
			clock,
			protocolVersion: "1.10",
			takeOver: "expired",
		});
	it("says where the process id of its holder counts", async () => {
		const session = await place.openStore().openOrCreate(place.workDir, id);
		expect(JSON.parse(await readFile(await leaseFile(), "utf8"))).toMatchObject({
			pid: process.pid,
			origin: ownOrigin(),
		});
		await session.close();
	});

	it("touches no file that a token with path syntax names", async () => {
		const file = path.join(place.shareDir, "mine.tmp");
		await writeFile(file, "text");
		await writeFile(await leaseFile(), JSON.stringify({ ...holder, token: "/../mine" }));
		const store = openFree(createSteppingClock(Date.now()));
		const session = await store.openOrCreate(place.workDir, id);
		expect(await readFile(file, "utf8")).toBe("text");
		await session.close();
	});

	it("is waited for as one of a living process, and then taken over", async () => {
		await writeFile(await leaseFile(), JSON.stringify(holder));
		const clock = createSteppingClock(Date.now());
		const session = await place.openStore({ clock }).openOrCreate(place.workDir, id);
		expect(clock.waited).toBeGreaterThanOrEqual(3000);
		expect(clock.waited).toBeLessThan(3100);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
		expect(await readdir(leases)).toEqual([]);
	});

	it("is nobody's when its holder answers nothing: the session can be deleted, and opened by who takes no living one", async () => {
		for (const use of ["open", "delete"] as const) {
			await writeFile(await leaseFile(), JSON.stringify(holder));
			const clock = createSteppingClock(Date.now());
			const store = openFree(clock);
			if (use === "open") await (await store.open(place.workDir, id))?.close();
			else await store.delete(place.workDir, id);
			expect(clock.waited).toBeGreaterThanOrEqual(3000);
			expect(clock.waited).toBeLessThan(3100);
			expect(await readdir(leases)).toEqual([]);
		}
		expect(await openFree(createSteppingClock(Date.now())).workDirOf(id)).toBeNull();
	});

	it.each(["open", "delete"] as const)("is its holder's as long as that answers (%s)", async (use) => {
		const disk = createDiskFiles();
		const answered = createDeferred<void>();
		const files: Files = {
			...disk,
			async remove(target) {
				await disk.remove(target);
				if (path.dirname(target) === leases) answered.resolve();
			},
		};
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		const file = await leaseFile();
		const written = JSON.parse(await readFile(file, "utf8"));
		await writeFile(file, JSON.stringify({ ...written, pid: deadProcess, origin: elsewhere }));
		const system = createSteppingClock(Date.now());
		const clock: Clock = {
			now: system.now,
			monotonic: system.monotonic,
			after(milliseconds, callback) {
				system.after(milliseconds, () => {});
				void answered.promise.then(callback);
				place.passTime();
				return () => {};
			},
		};
		const store = openFree(clock);
		await expect(
			use === "open" ? store.open(place.workDir, id) : store.delete(place.workDir, id),
		).rejects.toMatchObject({ code: "busy", message: expect.stringContaining(`${deadProcess} on web-2`) });
		expect(await readdir(leases)).toEqual([path.basename(file)]);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
	});

	it("of a process here that has ended is free at once, also where another one has its id", async () => {
		const started = String(Number(ownOrigin().started ?? 2) - 1);
		const left = { ...holder, pid: process.pid, origin: { ...ownOrigin(), started } };
		await writeFile(await leaseFile(), JSON.stringify(ownOrigin().started === undefined ? holder : left));
		const clock = createSteppingClock(Date.now());
		await openFree(clock).delete(place.workDir, id);
		expect(clock.waited).toBe(ownOrigin().started === undefined ? 3000 : 0);
	});

	it("is left alone where only what ended processes left is removed, for a day", async () => {
		const staged = path.join(place.shareDir, "sessions", "staged", "x");
		const use = async (daysAgo: number) => {
			const seconds = (Date.now() - daysAgo * 86_400_000 - 120_000) / 1000;
			await mkdir(staged, { recursive: true });
			await utimes(staged, seconds, seconds);
			await writeFile(path.join(leases, "staged-x.json"), JSON.stringify(holder));
			const clock = createSteppingClock(Date.now());
			const session = await place.openStore({ clock }).openOrCreate(place.workDir, id);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await session.close();
			expect(clock.waited).toBeLessThan(1000);
		};
		await use(0);
		expect(existsSync(staged)).toBe(true);
		await use(1);
		expect(existsSync(staged)).toBe(false);
	});
});
