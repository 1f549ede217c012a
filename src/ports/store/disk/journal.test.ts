// How the journal of a session is written: one append for all that arrives together, one sync at a commit point, and
// nothing that was refused.
import { appendFile, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles, type Effect, type Plan } from "../../../../test/support/store/failing-files.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import type { Clock } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";
import type { Batch, StoredSession } from "../session-store.ts";

const id = "11111111-2222-4333-8444-555555555555";
const step = (n: number) => eventAt({ type: "step.started", n });
const batch: Batch = {
	events: [step(1)],
	context: { kind: "append", rows: [promptRow] },
	state: { planMode: true },
};

describe("the journal", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	const reopen = (): Promise<StoredSession> => place.openStore().openOrCreate(place.workDir, id);
	const openWith = async (plan: Plan | null = null, log = createMemoryLog()) => {
		const { files, effects } = createFailingFiles(createDiskFiles(), plan);
		const session = await place.openStore({ files, log }).openOrCreate(place.workDir, id);
		const since = (count: number) =>
			effects.slice(count).map(({ kind, path: file }) => `${kind} ${path.basename(file)}`);
		return { session, effects, since };
	};
	/** The effect of this kind on a file of this name, counted from 1. */
	const at = (kind: Effect["kind"], name: string, nth: number) => {
		let count = 0;
		return (effect: Effect): boolean => {
			if (effect.kind === kind && path.basename(effect.path) === name) count += 1;
			return count === nth;
		};
	};

	it("is synced once at a commit point, and nothing else is", async () => {
		const { session, effects, since } = await openWith();
		await session.commit(batch, { sync: true });
		const before = effects.length;
		await session.commit(batch, { sync: true });
		expect(since(before).sort()).toEqual([
			"append context.jsonl",
			"append journal.jsonl",
			"append wire.jsonl",
			"replace state.json",
			"sync journal.jsonl",
		]);
		const appended = effects.length;
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.commit({}, { sync: true });
		await session.commit({}, { sync: true });
		expect(since(appended)).toEqual(["append journal.jsonl", "append context.jsonl", "sync journal.jsonl"]);
	});

	it("does not make a running turn wait for the files of other programs, which are complete when it has ended", async () => {
		const disk = createDiskFiles();
		const gate = createDeferred<void>();
		const begun = createDeferred<void>();
		const files: Files = {
			...disk,
			async openAppend(file) {
				const opened = await disk.openAppend(file);
				if (path.basename(file) !== "wire.jsonl") return opened;
				return {
					...opened,
					async append(text) {
						begun.resolve();
						await gate.promise;
						await opened.append(text);
					},
				};
			},
		};
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		await session.commit({ events: [eventAt({ type: "turn.started", input: "hi" })] }, { sync: true });
		place.passTime();
		await begun.promise;
		const journal = await readFile(path.join(String(session.directory), "journal.jsonl"), "utf8");
		expect(journal).toContain("turn.started");

		const done: string[] = [];
		const noted = (name: string, work: Promise<unknown>) => work.then(() => done.push(name));
		const rest = [
			noted("step", session.commit({ ...batch, events: [step(1)] })),
			noted("end", session.commit({ events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] })),
		];
		expect(done).toEqual([]);
		gate.resolve();
		await Promise.all(rest);
		const wire = await readFile(path.join(String(session.directory), "wire.jsonl"), "utf8");
		expect(wire.match(/"type":"\w+"/g)).toEqual(['"type":"TurnBegin"', '"type":"StepBegin"', '"type":"TurnEnd"']);
		expect(await readFile(path.join(String(session.directory), "context.jsonl"), "utf8")).toContain("Say hello");
	});

	describe("gets with the next commit what nobody sees before it", () => {
		const row = (n: number) => ({ type: "usage", tokenCount: n }) as const;
		const append = (n: number): Batch => ({ context: { kind: "append", rows: [row(n)] } });
		const started: Batch = { events: [eventAt({ type: "turn.started", input: "hi" })] };

		it("in one append", async () => {
			const { session, effects, since } = await openWith();
			await session.commit(started, { sync: true });
			const before = effects.length;
			await session.commit(append(1), { withNext: true });
			await session.commit(append(2), { withNext: true });
			expect(since(before)).toEqual([]);
			await session.commit({ events: [step(1)] }, { sync: true });
			expect(since(before)).toEqual(["append journal.jsonl", "sync journal.jsonl"]);
			const journal = await readFile(path.join(String(session.directory), "journal.jsonl"), "utf8");
			expect(journal.match(/"token_count": ?\d|step\.started/g)?.slice(-3)).toEqual([
				expect.stringContaining("1"),
				expect.stringContaining("2"),
				"step.started",
			]);
		});

		it("or by itself after a moment", async () => {
			const { session, effects, since } = await openWith();
			await session.commit(started, { sync: true });
			place.passTime();
			await vi.waitUntil(() => since(0).includes("append wire.jsonl"));
			const before = effects.length;
			await session.commit(append(1), { withNext: true });
			place.passTime();
			await vi.waitUntil(() => since(before).includes("append journal.jsonl"));
			await session.close();
			expect((await reopen()).contextRows).toEqual([row(1)]);
		});

		it("and tries again what could not be stored, in order, while the commits after it fail", async () => {
			const { session } = await openWith({
				at: at("append", "journal.jsonl", 2),
				mishap: { kind: "fail", code: "ENOSPC", once: true },
			});
			await session.commit(started, { sync: true });
			await session.commit(append(1), { withNext: true });
			await expect(session.commit({ events: [step(1)] })).rejects.toMatchObject({ code: "storage-failed" });
			await session.commit(append(2), { withNext: true });
			await session.commit({ events: [step(2)] });
			await session.close();
			const again = await reopen();
			expect(again.contextRows).toEqual([row(1), row(2)]);
			expect((await readAll(again)).map(({ body }) => body)).toEqual([
				started.events?.[0]?.body,
				{ type: "step.started", n: 2 },
			]);
		});

		it("also with a prompt, which is stored alone: it fails as what waits before it does", async () => {
			const { session } = await openWith({
				at: at("append", "journal.jsonl", 2),
				mishap: { kind: "fail", code: "ENOSPC", once: false },
			});
			await session.commit(started, { sync: true });
			await session.commit(append(1), { withNext: true });
			const prompt: Batch = { context: { kind: "append", rows: [{ type: "system-prompt", content: "Be brief." }] } };
			await expect(session.commit(prompt)).rejects.toMatchObject({ code: "storage-failed" });
		});

		it("and says at the end what could never be stored", async () => {
			const log = createMemoryLog();
			const { session } = await openWith(
				{ at: at("append", "journal.jsonl", 2), mishap: { kind: "fail", code: "ENOSPC", once: false } },
				log,
			);
			await session.commit(started, { sync: true });
			await session.commit(append(1), { withNext: true });
			await session.close();
			expect(log.lines.map(({ message }) => message)).toContain("closing the session failed");
		});
	});

	it("is synced before the file of a context is replaced", async () => {
		const { session, effects, since } = await openWith();
		await session.commit(batch, { sync: true });
		const before = effects.length;
		await session.commit({ context: { kind: "replace", rows: [promptRow] } });
		const made = since(before);
		expect(made.slice(0, 2)).toEqual(["append journal.jsonl", "sync journal.jsonl"]);
		expect(made.length).toBeGreaterThan(2);
	});

	it("goes on after numbers that no event can have", async () => {
		const { session } = await openWith();
		await session.commit(batch, { sync: true });
		await session.close();
		const file = path.join(session.directory ?? "", "journal.jsonl");
		const wrong = [Number.MAX_SAFE_INTEGER, 1e308, -1, 1.5].map((seq) =>
			JSON.stringify({ seq, at: 1, turn: null, event: { type: "step.started", n: 9 } }),
		);
		await appendFile(file, `${wrong.join("\n")}\n`);
		const next = await reopen();
		await next.commit({ events: [step(2), step(3)] }, { sync: true });
		await next.close();
		const last = await reopen();
		const numbers = (await readAll(last)).map(({ seq, body }) => [seq, body.type === "step.started" && body.n]);
		expect(numbers.slice(-2)).toEqual([
			[last.cursor().seq - 1, 2],
			[last.cursor().seq, 3],
		]);
		expect(last.cursor().seq).toBeLessThan(100);
		await last.close();
	});

	it("is not read for events after its last one", async () => {
		let read = 0;
		const disk = createDiskFiles();
		const files: Files = {
			...disk,
			readPieces(file) {
				read += 1;
				return disk.readPieces(file);
			},
		};
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		await session.commit(batch, { sync: true });
		expect(await readAll(session, session.cursor().seq)).toEqual([]);
		expect(read).toBe(0);
		expect(await readAll(session, 0)).toHaveLength(1);
		await session.close();
	});

	it("is read from about the number on after which events are asked for", async () => {
		let read = 0;
		const disk = createDiskFiles();
		const files: Files = {
			...disk,
			async readRange(...given) {
				const bytes = await disk.readRange(...given);
				read += bytes?.length ?? 0;
				return bytes;
			},
			async *readPieces(file) {
				for await (const piece of disk.readPieces(file)) {
					read += piece.length;
					yield piece;
				}
			},
		};
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		const lengths = [0, 10, 3000, 200_000];
		for (let n = 1; n <= 200; n += 1) {
			const part = { type: "text", text: `"\\n{"seq":${n}`.padEnd(lengths[n % 4] ?? 0, "ü") } as const;
			await session.commit({
				events: [eventAt({ type: "content.completed", part })],
				context: { kind: "append", rows: [promptRow] },
			});
		}
		const { size } = await stat(path.join(session.directory ?? "", "journal.jsonl"));
		expect(size).toBeGreaterThan(10_000_000);
		for (const after of [0, 1, 2, 3, 50, 51, 52, 53, 120, 198, 199, 200]) {
			const seqs = (await readAll(session, after)).map(({ seq }) => seq);
			expect(seqs).toEqual(Array.from({ length: 200 - after }, (_, index) => after + index + 1));
		}
		read = 0;
		await readAll(session, 196);
		expect(read).toBeLessThan(3_000_000);
		await session.close();
	});

	it("is not read again for each of many summaries that cannot be read", async () => {
		const { session } = await openWith();
		await session.commit(batch, { sync: true });
		await session.close();
		const file = path.join(session.directory ?? "", "journal.jsonl");
		await appendFile(file, '{"summary":0}\n'.repeat(20_000));
		const { size } = await stat(file);
		let read = 0;
		const disk = createDiskFiles();
		const files: Files = {
			...disk,
			async readRange(name, offset, length) {
				const bytes = await disk.readRange(name, offset, length);
				if (name === file) read += bytes?.length ?? 0;
				return bytes;
			},
		};
		const next = await place.openStore({ files }).openOrCreate(place.workDir, id);
		expect((await readAll(next)).map(({ body }) => body)).toContainEqual({ type: "step.started", n: 1 });
		await next.close();
		// From its end for a summary, then from the one before all of these on, and once for the events.
		expect(read).toBeLessThan(4 * size);
	});

	it("is synced with the files of subagents that have something unsynced", async () => {
		const { session, effects, since } = await openWith();
		await session.commit(batch, { sync: true });
		const described = { id: "a1", type: "coder", description: "d", createdAt: 1 };
		const agent = await session.createAgent({ ...described, modelOverride: null, effectiveModel: null });
		await agent.begin("Go");
		await agent.changeContext({ kind: "append", rows: [promptRow] });
		await session.commit(batch, { sync: true });
		const before = effects.length;
		await session.commit(batch, { sync: true });
		expect(since(before).filter((effect) => effect.startsWith("sync"))).toEqual(["sync journal.jsonl"]);
		await agent.changeContext({ kind: "append", rows: [promptRow] });
		const later = effects.length;
		await session.commit(batch, { sync: true });
		expect(since(later).filter((effect) => effect.startsWith("sync"))).toEqual([
			"sync journal.jsonl",
			"sync context.jsonl",
		]);
	});

	it("gets what is stored in one go, or arrives during a write, with one append", async () => {
		const { session, effects, since } = await openWith();
		await session.commit(batch);
		const before = effects.length;
		const appends = () => since(before).filter((effect) => effect === "append journal.jsonl");
		await Promise.all([2, 3, 4].map((n) => session.commit({ events: [step(n)] }, { sync: true })));
		expect(appends()).toHaveLength(1);
		const first = session.commit({ events: [step(5)] }, { sync: true });
		// By then the write has begun.
		await new Promise((resolve) => setImmediate(resolve));
		await Promise.all([first, ...[6, 7, 8].map((n) => session.commit({ events: [step(n)] }, { sync: true }))]);
		expect(appends()).toHaveLength(3);
		expect((await readAll(await reopen())).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
	});

	it.each(["append", "sync"] as const)(
		"has nothing of a batch whose %s failed, and gives its numbers again",
		async (kind) => {
			const plan: Plan = {
				at: at(kind, "journal.jsonl", 2),
				mishap: { kind: "fail", code: "EIO", once: true, half: true },
			};
			const { session } = await openWith(plan);
			await session.commit(batch, { sync: true });
			const { epoch } = session.cursor();
			const refused = session.commit({ events: [step(2), step(3)], state: { planMode: false } }, { sync: true });
			await expect(refused).rejects.toMatchObject({ code: "storage-failed", message: expect.stringContaining("EIO") });
			expect([session.cursor(), session.state().planMode]).toEqual([{ epoch, seq: 1 }, true]);
			expect(await readAll(session)).toHaveLength(1);
			// Another run finds it as this one left it.
			expect(await readAll(await reopen())).toHaveLength(1);
		},
	);

	it.each(["wire.jsonl", "context.jsonl"])(
		"has a batch that %s could not get, which gets it with the next one",
		async (name) => {
			const log = createMemoryLog();
			const plan: Plan = {
				at: at("append", name, 2),
				mishap: { kind: "fail", code: "ENOSPC", once: true, half: true },
			};
			const { session } = await openWith(plan, log);
			await session.commit(batch);
			await session.commit({
				events: [step(2)],
				context: { kind: "append", rows: [{ type: "usage", tokenCount: 2 }] },
			});
			expect(await readAll(session)).toHaveLength(2);
			expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
			await session.commit({
				events: [step(3)],
				context: { kind: "append", rows: [{ type: "usage", tokenCount: 3 }] },
			});
			const lines = (await readFile(path.join(String(session.directory), name), "utf8")).split("\n");
			expect(lines).toHaveLength(name === "wire.jsonl" ? 5 : 4);
			const again = await reopen();
			expect(again.contextRows).toEqual([
				promptRow,
				{ type: "usage", tokenCount: 2 },
				{ type: "usage", tokenCount: 3 },
			]);
			expect(await readAll(again)).toHaveLength(3);
		},
	);

	it("has a change of the state that state.json could not get", async () => {
		const plan: Plan = { at: at("replace", "state.json", 1), mishap: { kind: "fail", code: "ENOSPC", once: true } };
		const { session } = await openWith(plan);
		await session.commit(batch);
		expect(session.state().planMode).toBe(true);
		const crashed = await reopen();
		expect(crashed.state().planMode).toBe(true);
		await crashed.commit({ events: [step(2)] });
		const state = await readFile(path.join(String(session.directory), "state.json"), "utf8");
		expect(JSON.parse(state).plan_mode).toBe(true);
	});

	it("has a replaced context that context.jsonl did not get, also when that had lacked something before", async () => {
		const disk = createDiskFiles();
		let appends = 0;
		const failure = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
		const files: Files = {
			...disk,
			async openAppend(file) {
				const opened = await disk.openAppend(file);
				if (path.basename(file) !== "context.jsonl") return opened;
				return {
					...opened,
					async append(text) {
						appends += 1;
						if (appends === 2) throw failure;
						await opened.append(text);
					},
				};
			},
			async replace(file, content, options) {
				if (path.basename(file) === "context.jsonl") throw failure;
				await disk.replace(file, content, options);
			},
		};
		const usage = (tokenCount: number) => ({ type: "usage", tokenCount }) as const;
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		await session.commit(batch);
		await session.commit({ context: { kind: "append", rows: [usage(1)] } });
		await session.commit({ events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] });
		await session.commit({ context: { kind: "append", rows: [usage(2)] } });
		await session.commit({ context: { kind: "replace", rows: [usage(3)] } });
		expect((await reopen()).contextRows).toEqual([usage(3)]);
	});

	it("has a change of the state that state.json never gets, whatever is stored after it", async () => {
		const disk = createDiskFiles();
		const files: Files = {
			...disk,
			async replace(file, content, options) {
				if (path.basename(file) === "state.json") throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
				return disk.replace(file, content, options);
			},
		};
		const saved = await place.openStore().openOrCreate(place.workDir, id);
		await saved.commit({ ...batch, state: { planMode: false } });
		await saved.close();
		for (const n of [1, 2]) {
			const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
			await session.commit({ events: [step(n)], ...(n === 1 ? { state: { planMode: true } } : {}) });
			await session.commit({ events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] });
			await session.close();
			const again = await reopen();
			expect([n, again.state().planMode]).toEqual([n, true]);
			await again.close();
		}
	});

	it("holds long texts, which are never one string", async () => {
		const { session, since } = await openWith();
		const part = { type: "text", text: "ü\n".repeat(1_500_000) } as const;
		await session.commit({
			events: [eventAt({ type: "content.completed", part }), step(2)],
			context: { kind: "append", rows: [{ type: "message", message: { role: "user", content: [part] } }] },
		});
		expect(since(0)).toContain("append journal.jsonl");
		await rm(path.join(String(session.directory), "context.jsonl"));
		const again = await reopen();
		expect((await readAll(again)).map(({ seq, body }) => [seq, body.type])).toEqual([
			[1, "content.completed"],
			[2, "step.started"],
		]);
		expect(again.contextRows).toEqual([{ type: "message", message: { role: "user", content: [part] } }]);
	});

	it("gives the context to a reader when context.jsonl is missing", async () => {
		const { session } = await openWith();
		await session.commit(batch);
		await session.markStarted();
		await rm(path.join(String(session.directory), "context.jsonl"));
		const store = place.openStore();
		expect(await store.readContext(place.workDir, id)).toEqual([promptRow]);
		expect(await store.lastSessionId(place.workDir)).toBe(id);
		expect(await store.workDirOf(id)).toBe(place.workDir);
	});
});

describe("the watch on the lease of a session", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	it("has a timer in the background while the lease is held, and none before and after", async () => {
		const timers = new Set<() => void>();
		const clock: Clock = {
			now: () => Date.now(),
			monotonic: () => Date.now(),
			after(milliseconds, callback, inBackground) {
				expect([milliseconds > 0, milliseconds <= 1000, inBackground]).toEqual([true, true, true]);
				timers.add(callback);
				return () => timers.delete(callback);
			},
		};
		const store = place.openStore({ clock });
		const session = await store.openOrCreate(place.workDir, id);
		expect(timers.size).toBe(0);
		await session.commit(batch);
		// That of the watch, and that after which the files are closed.
		expect(timers.size).toBe(2);
		await session.close();
		expect(timers.size).toBe(0);
		const again = await store.openOrCreate(place.workDir, id);
		expect(timers.size).toBe(1);
		await again.close();
		expect(timers.size).toBe(0);
	});

	it("reports another process at once, without a write", async () => {
		const session = await place.openStore().openOrCreate(place.workDir, id);
		await session.commit(batch);
		place.passTime();
		const other = await place.openStore().openOrCreate(place.workDir, id);
		let reported: unknown = null;
		const lost = session.lost.then((reason) => {
			reported = reason;
		});
		// The look that found nothing has armed the next one.
		while (reported === null) {
			place.passTime();
			await new Promise((resolve) => setImmediate(resolve));
		}
		await lost;
		expect(reported).toMatchObject({
			code: "storage-failed",
			message: expect.stringContaining("has taken over the session"),
		});
		await other.close();
		await session.close();
	});
});
