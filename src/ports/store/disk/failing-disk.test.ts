// The store when the disk fails at any one effect: the error names the path, and everything reported as stored stays
// readable; once the disk works again the session continues, with no record appended to a partial one.
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createFailingFiles, type Mishap } from "../../../../test/support/store/failing-files.ts";
import { createMemoryFiles } from "../../../../test/support/store/memory-files.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import { isRecord } from "../../../base/json.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";
import type { StoredSession } from "../session-store.ts";

const id = "11111111-2222-4333-8444-555555555555";

const started = eventAt({ type: "tool.started", toolCallId: "a", name: "Shell", arguments: null, has_effect: true });

type Step = readonly [name: string, run: (session: StoredSession) => Promise<unknown>];

const steps: readonly Step[] = [
	[
		"context",
		(session) => session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 0 }, promptRow] } }),
	],
	["started", (session) => session.markStarted()],
	["event", (session) => session.commit({ events: [eventAt({ type: "turn.started", input: "Say hello" })] })],
	["calls", (session) => session.commit({ events: [started] })],
	["state", (session) => session.commit({ state: { planMode: true } })],
	["sync", (session) => session.commit({}, { sync: true })],
	["event", (session) => session.commit({ events: [eventAt({ type: "turn.ended", outcome: null })] })],
	["context", (session) => session.commit({ context: { kind: "append", rows: [{ type: "usage", tokenCount: 5 }] } })],
	[
		"replaced",
		(session) =>
			session.commit({
				context: { kind: "replace", rows: [{ type: "checkpoint", id: 0 }, promptRow, promptRow, promptRow] },
			}),
	],
	["context", (session) => session.commit({ context: { kind: "append", rows: [{ type: "usage", tokenCount: 6 }] } })],
];

/** How many rows of the context there are after these steps. */
function rowsAfter(done: readonly string[]): number {
	const appended = done.filter((name) => name === "context").length;
	return done.includes("replaced") ? appended + 2 : ([0, 2, 3][appended] ?? 0);
}

/** The names of the steps that succeeded, until one fails. */
async function run(session: StoredSession): Promise<{ done: string[]; failure: unknown }> {
	const done: string[] = [];
	for (const [name, step] of steps) {
		try {
			await step(session);
		} catch (failure) {
			return { done, failure };
		}
		done.push(name);
	}
	return { done, failure: null };
}

describe("a failing disk", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	// A lock that a stopped run left is waited for; not in real time.
	const clock = createSteppingClock(1_700_000_000_000);
	const open = (files: Files) => place.openStore({ files, clock }).openOrCreate(place.workDir, id);

	/** A disk in memory: each test takes some thousand effects. That it does what a disk does has tests of its own. */
	const emptyDisk = async (): Promise<Files> => {
		const files = createMemoryFiles();
		await files.makeDirectory(place.root);
		return files;
	};

	const countEffects = async (): Promise<number> => {
		const counting = createFailingFiles(await emptyDisk());
		const session = await open(counting.files);
		expect((await run(session)).failure).toBeNull();
		const count = counting.effects.length;
		await session.close();
		return count;
	};

	const expectWhole = async (session: StoredSession, done: readonly string[]): Promise<void> => {
		const count = (name: string): number => done.filter((one) => one === name).length;
		expect(await readAll(session)).toHaveLength(count("event") + count("calls"));
		expect(session.contextRows).toHaveLength(rowsAfter(done));
		expect(session.summary.unfinishedCalls).toHaveLength(count("calls"));
	};

	const mishaps: readonly (readonly [string, Mishap])[] = [
		["the disk is full from then on", { kind: "fail", code: "ENOSPC" }],
		["one write fails", { kind: "fail", code: "EIO", once: true }],
		["the disk is read-only from then on", { kind: "fail", code: "EROFS" }],
		["permission is denied from then on", { kind: "fail", code: "EACCES" }],
		["the disk is full after half a line", { kind: "fail", code: "ENOSPC", half: true }],
	];

	it.each(mishaps)("is reported and survived at every effect: %s", async (_, mishap) => {
		const total = await countEffects();
		expect(total).toBeGreaterThan(15);
		for (let n = 1; n <= total; n += 1) {
			const disk = await emptyDisk();
			const failing = createFailingFiles(disk, { at: n, mishap });
			const session = await open(failing.files);
			const { done, failure } = await run(session);
			if (failure !== null) {
				expect(failure).toMatchObject({ code: "storage-failed" });
				expect(String(failure)).toContain(mishap.kind === "fail" ? mishap.code : "");
				expect(String(failure)).toContain(place.root);
			}
			await session.close();
			expect(failing.struck).toBe(true);
			if (done.length > 0 || failure === null) {
				const again = await open(disk);
				await expectWhole(again, done);
				await again.close();
			}
		}
	});

	it("is survived by the same session, when it works again", async () => {
		const total = await countEffects();
		for (let n = 1; n <= total; n += 1) {
			const disk = await emptyDisk();
			const failing = createFailingFiles(disk, {
				at: n,
				mishap: { kind: "fail", code: "ENOSPC", half: true, once: true },
			});
			const session = await open(failing.files);
			await run(session);
			await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 77 }] } });
			await session.commit({ events: [eventAt({ type: "compaction.started" })] });
			const again = await open(disk);
			expect(again.contextRows.at(-1)).toEqual({ type: "checkpoint", id: 77 });
			expect((await readAll(again)).at(-1)?.body).toEqual({ type: "compaction.started" });
			await session.close();
			// The one that has the session now repairs what the one before did not come to.
			await again.commit({ events: [eventAt({ type: "compaction.ended" })] });
			await again.close();
			for (const name of ["journal.jsonl", "context.jsonl", "wire.jsonl"]) {
				const content = String(await disk.read(path.join(String(session.directory), name)));
				expect(content.endsWith("\n")).toBe(true);
				for (const line of content.split("\n").slice(0, -1)) expect(isRecord(JSON.parse(line))).toBe(true);
			}
		}
	});

	it("leaves no complete line of rows that belong together, even if it cannot be truncated at once", async () => {
		const disk = createDiskFiles();
		let fails = false;
		const session = await open({
			...disk,
			async openAppend(target) {
				const file = await disk.openAppend(target);
				return {
					...file,
					async append(text) {
						if (!fails) return file.append(text);
						await file.append(`${text.split("\n")[0]}\n`);
						throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
					},
				};
			},
		});
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		fails = true;
		await expect(
			session.commit({ context: { kind: "append", rows: [{ type: "usage", tokenCount: 1 }, promptRow] } }),
		).rejects.toMatchObject({
			code: "storage-failed",
		});
		fails = false;
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 5 }] } });
		const again = await open(disk);
		expect(again.contextRows).toEqual([promptRow, { type: "checkpoint", id: 5 }]);
		await again.close();
		await session.close();
	});

	it("lets an unwritable share directory open a session, whose first write reports it", async () => {
		const failing = createFailingFiles(createDiskFiles(), { at: 1, mishap: { kind: "fail", code: "EACCES" } });
		const session = await open(failing.files);
		expect(session.existed).toBe(false);
		expect(failing.effects).toEqual([]);
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject({
			code: "storage-failed",
			message: expect.stringContaining("kimi.json: you have no permission (EACCES)"),
		});
		await session.close();
	});

	it.each(["before", "half-way", "after"] as const)(
		"a process stopped %s any effect leaves every delivered record readable",
		async (when) => {
			const total = await countEffects();
			for (let n = 1; n <= total; n += 1) {
				const mishap = { kind: "stop", when, manner: "throw" } as const;
				const disk = await emptyDisk();
				const failing = createFailingFiles(disk, { at: n, mishap });
				const session = await open(failing.files);
				const { done } = await run(session);
				const delivered = (name: string): number => done.filter((one) => one === name).length;
				const again = await open(disk);
				expect((await readAll(again)).length).toBeGreaterThanOrEqual(delivered("event") + delivered("calls"));
				expect(again.contextRows.length).toBeGreaterThanOrEqual(rowsAfter(done));
				expect(again.summary.unfinishedCalls.length).toBeGreaterThanOrEqual(delivered("calls"));
				if (delivered("state") > 0) expect(again.state().planMode).toBe(true);
				await again.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 77 }] } });
				const last = await open(disk);
				expect(last.contextRows).toEqual([...again.contextRows, { type: "checkpoint", id: 77 }]);
			}
		},
	);
});
