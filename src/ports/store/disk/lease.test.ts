// The lease of a session (docs/explanation/guarantees.md): the newcomer waits and takes over, the one before stops writing for good.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { ownOrigin } from "../../files/living-process.ts";
import type { FileStatus, Files } from "../../files/port.ts";
import type { StoredSession } from "../session-store.ts";

const id = "11111111-2222-4333-8444-555555555555";

/** The number of no living process: beyond the largest that Linux and macOS give. */
const deadProcess = 2 ** 30;

describe("the lease of a session", () => {
	let place: StoreDirectory;
	let leases: string;
	beforeEach(async () => {
		place = await createStoreDirectory();
		leases = path.join(place.shareDir, "leases");
	});
	afterEach(() => place.cleanUp());

	const open = (options: Parameters<StoreDirectory["openStore"]>[0] = {}): Promise<StoredSession> =>
		place.openStore(options).openOrCreate(place.workDir, id);
	const makeSession = async (): Promise<void> => {
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
	};
	const leaseFile = async (): Promise<string> => path.join(leases, (await readdir(leases))[0] ?? "none");

	it("is acquired at the first write of a new session and released at its end", async () => {
		const session = await open();
		expect(existsSync(place.shareDir)).toBe(false);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		expect(await readdir(leases)).toEqual([expect.stringMatching(`^[0-9a-f]{32}-${id}\\.json$`)]);
		expect(JSON.parse(await readFile(await leaseFile(), "utf8"))).toEqual({
			pid: process.pid,
			origin: ownOrigin(),
			token: expect.stringMatching(/^[0-9a-f]{18}$/),
			time: expect.any(String),
		});
		await session.close();
		expect(await readdir(leases)).toEqual([]);
	});

	it("is released at the end of a session also when a file of it cannot be closed", async () => {
		const disk = createDiskFiles();
		const failure = Object.assign(new Error("EIO: i/o error, close"), { code: "EIO" });
		const files: Files = {
			...disk,
			async openAppend(file) {
				const opened = await disk.openAppend(file);
				return { ...opened, close: () => opened.close().then(() => Promise.reject(failure)) };
			},
		};
		const log = createMemoryLog();
		const session = await open({ files, log });
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
		expect(log.lines).toContainEqual(expect.objectContaining({ message: "closing the session failed" }));
		expect(await readdir(leases)).toEqual([]);
	});

	it("is acquired before an existing session is read, and waits for its owner to release it", async () => {
		await makeSession();
		const holder = await open();
		expect(await readdir(leases)).toHaveLength(1);
		const system = createSteppingClock(Date.now());
		let written = false;
		// The holder writes and ends while the newcomer waits.
		const clock = {
			now: system.now,
			monotonic: system.monotonic,
			after: (milliseconds: number, callback: () => void) => {
				if (written) return system.after(milliseconds, callback);
				written = true;
				void holder
					.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 7 }] } })
					.then(() => holder.close().then(callback));
				return () => {};
			},
		};
		const newcomer = await open({ clock });
		expect(newcomer.contextRows).toEqual([promptRow, { type: "checkpoint", id: 7 }]);
		await newcomer.commit({ events: [eventAt({ type: "turn.started", input: "hi" })] });
		await newcomer.close();
	});

	it("passes to the new owner after three seconds, and the previous one stops writing permanently", async () => {
		await makeSession();
		const log = createMemoryLog();
		const before = await open({ log });
		await before.commit({ events: [eventAt({ type: "turn.started", input: "hi" })] });
		const clock = createSteppingClock(Date.now());
		const newcomer = await open({ clock });
		expect(clock.waited).toBeGreaterThanOrEqual(3000);
		expect(clock.waited).toBeLessThan(3100);
		expect(await readAll(newcomer)).toHaveLength(1);
		const refusals = [
			before.commit({ events: [eventAt({ type: "turn.ended", outcome: null })] }),
			before.commit({ context: { kind: "append", rows: [promptRow] } }),
			before.commit({ state: { planMode: true } }),
		];
		for (const refusal of await Promise.allSettled(refusals)) {
			expect(refusal).toMatchObject({
				status: "rejected",
				reason: {
					code: "storage-failed",
					message: `Cannot write ${before.directory}: another process (${process.pid}) has taken over the session.`,
				},
			});
		}
		await newcomer.commit({ events: [eventAt({ type: "turn.ended", outcome: null })] });
		await newcomer.close();
		// Also when the newcomer is gone: what it wrote is unknown to the one before.
		await expect(before.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject({
			code: "storage-failed",
		});
		await before.close();
		const last = await open();
		expect(last.contextRows).toEqual([promptRow]);
		expect((await readAll(last)).map(({ body }) => body.type)).toEqual(["turn.started", "turn.ended"]);
		await last.close();
	});

	it("passes to a newcomer after three seconds where it is a link to nowhere, which exists and cannot be read", async () => {
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		const lease = await leaseFile();
		await session.close();
		await symlink(path.join(place.shareDir, "nowhere"), lease);
		const clock = createSteppingClock(Date.now());
		const newcomer = await open({ clock });
		expect(clock.waited).toBeGreaterThanOrEqual(3000);
		expect(clock.waited).toBeLessThan(3100);
		await newcomer.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 7 }] } });
		await newcomer.close();
	});

	it("passes on once the previous owner has finished what it was writing", async () => {
		await makeSession();
		const disk = createDiskFiles();
		const gate = createDeferred<void>();
		const writing = createDeferred<void>();
		const slow: Files = {
			...disk,
			async openAppend(file) {
				const opened = await disk.openAppend(file);
				if (path.basename(file) !== "journal.jsonl") return opened;
				return {
					...opened,
					async append(text) {
						writing.resolve();
						await gate.promise;
						await opened.append(text);
					},
				};
			},
		};
		const before = await open({ files: slow });
		const stored = before.commit({ events: [eventAt({ type: "turn.started", input: "hi" })] });
		await writing.promise;

		const system = createSteppingClock(Date.now());
		let isTaken = false;
		const files: Files = {
			...disk,
			async replace(file, content, options) {
				isTaken ||= file.startsWith(leases);
				await disk.replace(file, content, options);
			},
		};
		const clock = {
			now: system.now,
			monotonic: system.monotonic,
			after(milliseconds: number, callback: () => void, inBackground?: boolean) {
				if (!isTaken || inBackground === true) return system.after(milliseconds, callback, inBackground);
				gate.resolve();
				void stored.then(callback);
				return () => {};
			},
		};
		const newcomer = await open({ files, clock });
		expect((await readAll(newcomer)).map(({ body }) => body.type)).toEqual(["turn.started"]);
		gate.resolve();
		await before.close();
		await newcomer.close();
	});

	it("is not released by a previous owner that closes: it removes nothing of the session", async () => {
		const before = await open();
		await before.commit({ state: { customTitle: null } });
		const newcomer = await open();
		await before.close();
		await newcomer.commit({ context: { kind: "append", rows: [promptRow] } });
		expect(await readdir(leases)).toHaveLength(1);
		await newcomer.close();
	});

	it("is lost when its file is missing", async () => {
		await makeSession();
		const session = await open();
		await rm(leases, { recursive: true });
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject({
			code: "storage-failed",
			message: `Cannot write ${session.directory}: its lease below ${leases} was removed; another process may have written the session since.`,
		});
		await session.close();
	});

	it("is not reported as another owner's when the share directory was removed", async () => {
		await makeSession();
		const log = createMemoryLog();
		const session = await open({ log });
		await rm(place.shareDir, { recursive: true });
		const refusal = {
			code: "storage-failed",
			message: `Cannot write ${session.directory}: ${place.shareDir} was removed while the session was open.`,
		};
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject(refusal);
		await expect(session.commit({ state: { planMode: true } })).rejects.toMatchObject(refusal);
		await session.close().catch(() => {});
		expect(JSON.stringify(log.lines)).not.toContain("another process");
		expect(existsSync(place.shareDir)).toBe(false);
	});

	it("is valid again when a directory that was moved away is back", async () => {
		await makeSession();
		const session = await open();
		await rename(place.shareDir, `${place.shareDir}-away`);
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject({
			code: "storage-failed",
		});
		await rename(`${place.shareDir}-away`, place.shareDir);
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		await session.close();
	});

	it("of an ended process is taken over at once", async () => {
		await makeSession();
		const first = await open();
		const file = await leaseFile();
		await first.close();
		await writeFile(file, JSON.stringify({ pid: deadProcess, token: "x", time: "" }));
		const clock = createSteppingClock(Date.now());
		const session = await open({ clock });
		expect(clock.waited).toBe(0);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
		expect(await readdir(leases)).toEqual([]);
	});

	it.each([
		["in milliseconds", () => Date.now() - 7],
		["in whole seconds", () => Math.floor(Date.now() / 1000) * 1000],
		["in two seconds", () => Math.floor(Date.now() / 2000) * 2000],
	])("of an ended process goes to one of those that take it over at the same time %s", async (_, toTime) => {
		const time = new Date(toTime());
		await mkdir(leases, { recursive: true });
		const first = await place.openStore().openOrCreate(place.workDir, id);
		await first.commit({ context: { kind: "append", rows: [promptRow] } });
		const [name = ""] = await readdir(leases);
		const lease = path.join(leases, name);
		await utimes(lease, time, time);
		await first.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		// The other one was about to replace the lease as well.
		await writeFile(`${lease}.new`, JSON.stringify({ pid: process.pid, token: "of the other one" }));
		await utimes(`${lease}.new`, time, time);
		await rename(`${lease}.new`, lease);
		await expect(
			first.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 2 }] } }),
		).rejects.toMatchObject({ code: "storage-failed", message: expect.stringContaining("has taken over the session") });
		await first.close();
		expect(await readFile(lease, "utf8")).toContain("of the other one");
	});

	it("that was just created is looked into where the file system counts whole seconds", async () => {
		const disk = createDiskFiles();
		const coarse = (status: FileStatus | null) =>
			status === null ? null : { ...status, modifiedAt: Math.floor(status.modifiedAt / 2000) * 2000 };
		const files = {
			...disk,
			status: async (target: string) => coarse(await disk.status(target)),
			create: async (target: string, content: string) => coarse(await disk.create(target, content)),
		};
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		// A process that takes this one for an ended one, as an earlier version on another machine may, does not wait.
		const lease = path.join(leases, String((await readdir(leases))[0]));
		const { mtime } = await stat(lease);
		await writeFile(lease, JSON.stringify({ pid: process.pid, token: "of the other one" }));
		await utimes(lease, mtime, mtime);
		await expect(session.commit({ state: { planMode: true } })).rejects.toMatchObject({
			message: expect.stringContaining("has taken over the session"),
		});
		await session.close();
	});

	it("without an owner is waited for and then taken over", async () => {
		await makeSession();
		const first = await open();
		const file = await leaseFile();
		await first.close();
		await writeFile(file, "");
		const clock = createSteppingClock(Date.now());
		await (await open({ clock })).close();
		expect(clock.waited).toBeGreaterThanOrEqual(3000);
	});

	it.each(["EROFS", "EACCES", "ENOSPC"] as const)("is optional when it cannot be written: %s", async (code) => {
		await makeSession();
		const log = createMemoryLog();
		const failing = createFailingFiles(createDiskFiles(), {
			at: ({ path: file }) => file.startsWith(leases),
			mishap: { kind: "fail", code, once: true },
		});
		const session = await open({ files: failing.files, log });
		expect(failing.struck).toBe(true);
		expect(session.contextRows).toEqual([promptRow]);
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		await session.close();
		expect(log.lines.map(({ message }) => message)).toContain("the session is held without a lease");
	});

	it("is released when the session cannot be read", async () => {
		await makeSession();
		const disk = createDiskFiles();
		const files = {
			...disk,
			read: (file: string) =>
				file.endsWith("context.jsonl") ? Promise.reject(new Error("EIO: the disk is broken")) : disk.read(file),
		};
		const session = await open({ files });
		expect(await readdir(leases)).toEqual([]);
		await session.close();
	});
});

describe("the remains of a killed process", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());
	const ours = ".0123456789abcdef01.tmp";

	it("are removed at the first write: our temporary files from before the opening", async () => {
		const first = await place.openStore().openOrCreate(place.workDir, id);
		await first.commit({ context: { kind: "append", rows: [promptRow] } });
		await first.close();
		const directory = String(first.directory);
		const old = new Date(Date.now() - 60_000);
		for (const name of [ours, ".other.tmp", "0123456789abcdef01.tmp"]) {
			await writeFile(path.join(directory, name), "x");
			await utimes(path.join(directory, name), old, old);
		}
		const young = ".aaaaaaaaaaaaaaaaaa.tmp";
		await writeFile(path.join(directory, young), "x");
		const future = new Date(Date.now() + 60_000);
		await utimes(path.join(directory, young), future, future);
		const session = await place.openStore().openOrCreate(place.workDir, id);
		expect(await readdir(directory)).toContain(ours);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		expect((await readdir(directory)).sort()).toEqual(
			[young, ".other.tmp", "0123456789abcdef01.tmp", "context.jsonl", "journal.jsonl"].sort(),
		);
		await session.close();
	});

	it("are removed in the share directory too, after a minute", async () => {
		await mkdir(place.shareDir);
		const names = [".0123456789abcdef02.tmp", ".0123456789abcdef03.tmp"];
		for (const [index, name] of names.entries()) {
			await writeFile(path.join(place.shareDir, name), "x");
			const time = new Date(Date.now() - (index === 0 ? 90_000 : 30_000));
			await utimes(path.join(place.shareDir, name), time, time);
		}
		const session = await place.openStore().openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		expect((await readdir(place.shareDir)).filter((name) => name.endsWith(".tmp"))).toEqual([names[1]]);
		await session.close();
	});

	it("do not preserve the directory of an empty session", async () => {
		const session = await place.openStore().openOrCreate(place.workDir, id);
		await session.commit({ state: { planMode: true } });
		const directory = String(session.directory);
		await mkdir(directory, { recursive: true });
		await writeFile(path.join(directory, ours), "x");
		await session.close();
		expect(existsSync(directory)).toBe(false);
	});
});

describe("a sync", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	it("also syncs the names of new files and directories, once", async () => {
		const counting = createFailingFiles(createDiskFiles());
		const session = await place.openStore({ files: counting.files }).openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.commit({}, { sync: true });
		const directory = String(session.directory);
		const parent = path.dirname(directory);
		const synced = () => counting.effects.flatMap(({ kind, path: file }) => (kind === "sync" ? [file] : []));
		expect(synced().sort()).toEqual(
			[
				path.join(directory, "journal.jsonl"),
				directory,
				parent,
				path.dirname(parent),
				place.shareDir,
				place.root,
			].sort(),
		);
		const before = counting.effects.length;
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.commit({}, { sync: true });
		await session.commit({}, { sync: true });
		expect(counting.effects.slice(before).map(({ kind }) => kind)).toEqual(["append", "append", "sync"]);
		await session.close();

		// A killed process may have left names that are not on stable storage.
		const other = createFailingFiles(createDiskFiles());
		const again = await place.openStore({ files: other.files }).openOrCreate(place.workDir, id);
		await again.commit({ context: { kind: "append", rows: [promptRow] } });
		await again.commit({}, { sync: true });
		expect(other.effects.flatMap(({ kind, path: file }) => (kind === "sync" ? [file] : []))).toEqual(
			expect.arrayContaining([directory, parent, path.dirname(parent), place.shareDir, place.root]),
		);
		await again.close();
	});
});
