// What the files that other programs read hold while a turn runs that does not wait for them, and after it.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, readAll } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";
import type { Batch, StoredSession } from "../session-store.ts";

const id = "11111111-2222-4333-8444-555555555555";
const started: Batch = { events: [eventAt({ type: "turn.started", input: "hi" })] };
const ended: Batch = { events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] };
const row = (n: number): ContextRow => ({ type: "usage", tokenCount: n });
const step = (n: number): Batch => ({
	events: [eventAt({ type: "step.started", n })],
	context: { kind: "append", rows: [row(n)] },
});

/** The same files, to which `append` appends: it is given the name of the file, the text, and what appends it. */
function withAppend(
	disk: Files,
	append: (name: string, text: string, perform: () => Promise<void>) => Promise<void>,
): Files {
	return {
		...disk,
		async openAppend(file) {
			const opened = await disk.openAppend(file);
			return { ...opened, append: (text) => append(path.basename(file), text, () => opened.append(text)) };
		},
	};
}

describe("a turn that does not wait for the files of other programs", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	const open = (files: Files): Promise<StoredSession> => place.openStore({ files }).openOrCreate(place.workDir, id);
	/** Lets time pass until the files of other programs have got that far. */
	const until = async (isSo: () => boolean): Promise<void> => {
		while (!isSo()) {
			place.passTime();
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	const text = (session: StoredSession, name: string) => readFile(path.join(String(session.directory), name), "utf8");

	it.each(["wire.jsonl", "context.jsonl"])("writes every line of %s once when it is written again", async (name) => {
		const disk = createDiskFiles();
		let appends = 0;
		let journalAppends = 0;
		const rewriting = createDeferred<void>();
		const appended = createDeferred<void>();
		const files: Files = {
			...withAppend(disk, async (file, _text, perform) => {
				if (file === name) appends += 1;
				if (file === name && appends === 2) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
				await perform();
				if (file !== "journal.jsonl") return;
				journalAppends += 1;
				if (journalAppends === 4) setImmediate(appended.resolve);
			}),
			async replaceByPieces(file, pieces, options) {
				if (path.basename(file) === name) {
					rewriting.resolve();
					await appended.promise;
				}
				await disk.replaceByPieces(file, pieces, options);
			},
		};
		const session = await open(files);
		// Everything is in the files of both but the second step.
		await session.commit({ ...started, context: { kind: "append", rows: [row(0)] } });
		await until(() => appends === 1);
		await session.commit(step(1));
		await until(() => appends === 2);
		await session.commit(step(2));
		place.passTime();
		await rewriting.promise;
		await session.commit(step(3));
		await session.commit(ended);
		const types = (await text(session, "wire.jsonl")).match(/"type":"\w+"/g);
		expect(types).toEqual(
			["TurnBegin", "StepBegin", "StepBegin", "StepBegin", "TurnEnd"].map((type) => `"type":"${type}"`),
		);
		expect((await text(session, "context.jsonl")).match(/"token_count": ?\d+/g)).toHaveLength(4);
		const again = await open(disk);
		expect(await readAll(again)).toHaveLength(5);
		expect(again.contextRows).toEqual([0, 1, 2, 3].map(row));
	});

	it("gives them what comes within a moment with one write, and no more than so much of it", async () => {
		const writes: string[] = [];
		const files = withAppend(createDiskFiles(), async (name, text, perform) => {
			await perform();
			if (name !== "journal.jsonl") writes.push(`${name} ${text.split("\n").length - 1}`);
		});
		const session = await open(files);
		await session.commit(started);
		for (let n = 1; n <= 3; n += 1) await session.commit(step(n));
		expect(writes).toEqual([]);
		await until(() => writes.length === 2);
		// The header, and four events.
		expect(writes.toSorted()).toEqual(["context.jsonl 3", "wire.jsonl 5"]);
		for (let n = 4; n <= 67; n += 1) await session.commit(step(n));
		expect(writes.slice(2).toSorted()).toEqual(["context.jsonl 64", "wire.jsonl 64"]);
	});

	it("has ended when they are complete, also when the next turn begins with the same write", async () => {
		const gate = createDeferred<void>();
		const held = createDeferred<void>();
		const files = withAppend(createDiskFiles(), async (name, text, perform) => {
			if (name === "wire.jsonl" && text.includes("TurnEnd")) {
				held.resolve();
				await gate.promise;
			}
			await perform();
		});
		const session = await open(files);
		await session.commit(started);
		let isEnded = false;
		const end = session.commit(ended).then(() => {
			isEnded = true;
		});
		const next = session.commit(started);
		await held.promise;
		await new Promise((resolve) => setImmediate(resolve));
		expect(isEnded).toBe(false);
		gate.resolve();
		await Promise.all([end, next]);
		expect(await text(session, "wire.jsonl")).toContain("TurnEnd");
	});

	it("writes nothing late once another process has the session, although it has not learned so", async () => {
		const clock = createSteppingClock(Date.now());
		const session = await place.openStore({ clock }).openOrCreate(place.workDir, id);
		await session.commit(started);
		await session.commit(step(1));
		const before = await text(session, "journal.jsonl");
		// It is stopped, as by Ctrl-Z, before these files got anything.
		clock.after(5000, () => {});
		const taken = await open(createDiskFiles());
		await taken.commit(ended);
		expect(await text(session, "journal.jsonl")).toContain(before);
		const files = ["wire.jsonl", "context.jsonl"];
		const found = await Promise.all(files.map((name) => text(taken, name)));

		clock.runBackground();
		await session.close();
		expect(await Promise.all(files.map((name) => text(taken, name)))).toEqual(found);
		await taken.close();
		expect((await open(createDiskFiles())).contextRows).toEqual([row(1)]);
	});

	it("does not count twice what a process that lost the session wrote late", async () => {
		const disk = createDiskFiles();
		const gate = createDeferred<void>();
		const held = createDeferred<void>();
		const late = new Set(["wire.jsonl", "context.jsonl"]);
		const firsts = new Set<string>();
		let journalAppends = 0;
		const files: Files = {
			...disk,
			async openAppend(file) {
				const opened = await disk.openAppend(file);
				let appends = 0;
				return {
					...opened,
					async append(text) {
						appends += 1;
						if (late.has(path.basename(file)) && appends > 1) await gate.promise;
						await opened.append(text);
						if (late.has(path.basename(file))) firsts.add(file);
						if (path.basename(file) !== "journal.jsonl") return;
						journalAppends += 1;
						if (journalAppends === 3) setImmediate(held.resolve);
					},
				};
			},
		};
		const session = await open(files);
		await session.commit({ ...started, context: { kind: "append", rows: [row(0)] } });
		await until(() => firsts.size === late.size);
		await session.commit(step(1));
		place.passTime();
		const waiting = session.commit(step(2)).catch(() => undefined);
		await held.promise;

		place.passTime();
		const taken = await open(disk);
		await taken.commit(step(3));
		let isLost = false;
		const lost = session.lost.then(() => {
			isLost = true;
		});
		while (!isLost) {
			place.passTime();
			await new Promise((resolve) => setImmediate(resolve));
		}
		await lost;
		gate.resolve();
		await waiting;
		await taken.commit(ended);
		await taken.close();
		await session.close();

		const again = await open(disk);
		expect(again.contextRows).toEqual([0, 1, 2, 3].map(row));
		expect((await readAll(again)).map(({ body }) => ("n" in body ? body.n : body.type))).toEqual([
			"turn.started",
			1,
			2,
			3,
			"turn.ended",
		]);
		await again.close();
	});

	it("gives a change of the state to the journal when state.json has what came before, which must not look newer", async () => {
		const disk = createDiskFiles();
		const gate = createDeferred<void>();
		const held = createDeferred<void>();
		let saves = 0;
		const files: Files = {
			...disk,
			async replace(file, content, options) {
				if (path.basename(file) === "state.json") {
					saves += 1;
					if (saves === 1) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
					held.resolve();
					await gate.promise;
				}
				await disk.replace(file, content, options);
			},
		};
		const session = await open(files);
		await session.commit(started);
		await session.commit({ ...step(1), state: { customTitle: "one" } });
		await session.commit(step(2));
		place.passTime();
		await held.promise;
		const changed = session.commit({ ...step(3), state: { customTitle: "two" } });
		for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
		expect(await text(session, "journal.jsonl")).not.toContain("two");
		gate.resolve();
		await changed;
		expect(await text(session, "state.json")).toContain("two");
	});
});
