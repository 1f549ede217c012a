// What is found between two runs: logs that lack what the journal has are written again from it, and what another
// program appended or changed is taken over.
import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import { isRecord } from "../../../base/json.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { StoredSession } from "../session-store.ts";
import { toDirectoryName } from "./work-dir.ts";

const id = "11111111-2222-4333-8444-555555555555";
const prompt: ContextRow = { type: "system-prompt", content: "You code." };
const usage = (tokenCount: number): ContextRow => ({ type: "usage", tokenCount });
const foreignTurn = '{"timestamp":5,"message":{"type":"TurnBegin","payload":{"user_input":"from kimi"}}}\n';
const foreignEnd = '{"timestamp":6,"message":{"type":"TurnEnd","payload":{}}}\n';
const foreignRow = '{"role":"user","content":"from kimi"}\n';

describe("a session between two runs", () => {
	let place: StoreDirectory;
	let directory: string;
	beforeEach(async () => {
		place = await createStoreDirectory();
		directory = path.join(place.shareDir, "sessions", toDirectoryName(place.workDir), id);
	});
	afterEach(() => place.cleanUp());

	const file = (name: string): string => path.join(directory, name);
	const text = (name: string): Promise<string> => readFile(file(name), "utf8");
	const open = (log = createMemoryLog()) => place.openStore({ log }).openOrCreate(place.workDir, id);
	const put = async (name: string, content: string): Promise<void> => {
		await mkdir(directory, { recursive: true });
		await writeFile(file(name), content);
	};
	const touch = (name: string, time: number) => utimes(file(name), new Date(time), new Date(time));
	/** Gives a file a time after the last write of the journal, as another program that continues the session does. */
	const touchLater = async (name: string): Promise<void> => {
		const later = new Date((await stat(file("journal.jsonl"))).mtimeMs + 5000);
		await utimes(file(name), later, later);
	};

	const turn = async (session: StoredSession, input: string): Promise<void> => {
		await session.commit(
			{ events: [eventAt({ type: "turn.started", input })], context: { kind: "append", rows: [promptRow] } },
			{ sync: true },
		);
		await session.commit({
			events: [
				eventAt({ type: "usage.counted", tokens: 10, milliseconds: 5, tool_calls: 1 }),
				eventAt({ type: "content.completed", part: { type: "text", text: `answer to ${input}` } }),
			],
			context: { kind: "append", rows: [usage(input.length)] },
			state: { planMode: true, todos: [{ title: input, status: "done" }] },
		});
		await session.commit({ events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] });
	};
	const use = async (how: "closed" | "crashed"): Promise<void> => {
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [prompt] } });
		await turn(session, "one");
		await turn(session, "two three");
		if (how === "closed") await session.close();
	};
	const expectedRows = [prompt, promptRow, usage(3), promptRow, usage(9)];

	/** Opens the session, checks that everything is there, continues, and checks the files. */
	const expectWhole = async (wire: string, context: string): Promise<void> => {
		const session = await open();
		const events = await readAll(session);
		expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
		expect(events.at(-1)?.body).toEqual({ type: "turn.ended", outcome: { status: "finished" } });
		expect(session.contextRows).toEqual(expectedRows);
		expect(session.state()).toMatchObject({ planMode: true, todos: [{ title: "two three", status: "done" }] });
		expect(session.summary).toEqual({
			used: { tokens: 10, milliseconds: 5, toolCalls: 1 },
			unfinishedCalls: [],
			unretained: [],
			isInStep: false,
			openTurn: null,
			startedInputs: [],
			waitingSteers: [],
			keyedTurns: [],
		});
		await session.commit({ context: { kind: "append", rows: [usage(77)] } });
		expect(await text("wire.jsonl")).toBe(wire);
		expect(await text("context.jsonl")).toBe(`${context}{"role": "_usage", "token_count": 77}\n`);
		await session.close();
		const again = await open();
		expect((await readAll(again)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
		expect(again.contextRows).toEqual([...expectedRows, usage(77)]);
		await again.close();
	};

	const damages: readonly (readonly [string, () => Promise<void>])[] = [
		["nothing is wrong", async () => {}],
		["the event log is missing", () => rm(file("wire.jsonl"))],
		["the event log is empty", () => truncate(file("wire.jsonl"), 0)],
		["the last line of the event log is torn", async () => cutEnd("wire.jsonl", 5)],
		["the event log ends three lines earlier", async () => cutLines("wire.jsonl", 3)],
		["the event log ends in nulls", async () => appendFile(file("wire.jsonl"), "\0".repeat(50))],
		["the context is missing", () => rm(file("context.jsonl"))],
		["the context is empty", () => truncate(file("context.jsonl"), 0)],
		["the last line of the context is torn", async () => cutEnd("context.jsonl", 5)],
		["two lines of the context were lost", async () => cutLines("context.jsonl", 2)],
		["the state is missing", () => rm(file("state.json"))],
		["the state is damaged", () => writeFile(file("state.json"), '{"plan_mo')],
		[
			"all of them are missing",
			async () => {
				for (const name of ["wire.jsonl", "context.jsonl", "state.json"]) await rm(file(name));
			},
		],
		["the end of the journal is half a group", () => appendFile(file("journal.jsonl"), tornGroup)],
		["the last line of the journal is torn", () => appendFile(file("journal.jsonl"), '{"seq":9,"at":1,"tu')],
	];
	const tornGroup = '{"seq":9,"at":1,"turn":null,"event":{"type":"compaction.started"},"more":true}\n';
	const cutEnd = async (name: string, bytes: number): Promise<void> =>
		truncate(file(name), (await stat(file(name))).size - bytes);
	const cutLines = async (name: string, count: number): Promise<void> => {
		const lines = (await text(name)).split("\n");
		await truncate(file(name), Buffer.byteLength(`${lines.slice(0, -1 - count).join("\n")}\n`));
	};

	for (const how of ["closed", "crashed"] as const) {
		it.each(damages)(`opens whole after it was ${how} and %s`, async (_, damage) => {
			await use(how);
			const [wire, context] = [await text("wire.jsonl"), await text("context.jsonl")];
			await damage();
			await expectWhole(wire, context);
		});
	}

	it("changes nothing on the disk before the first commit", async () => {
		await use("closed");
		await rm(file("wire.jsonl"));
		await cutEnd("context.jsonl", 5);
		const counting = createFailingFiles(createDiskFiles());
		const session = await place.openStore({ files: counting.files }).openOrCreate(place.workDir, id);
		await readAll(session);
		expect(session.contextRows).toEqual(expectedRows);
		expect(counting.effects.filter(({ path: changed }) => changed.startsWith(directory))).toEqual([]);
		await session.close();
		expect(await readdir(directory)).not.toContain("wire.jsonl");
	});

	it("takes over what another program appended, with the next numbers", async () => {
		await use("closed");
		await appendFile(file("wire.jsonl"), foreignTurn + foreignEnd);
		await appendFile(file("context.jsonl"), foreignRow);
		const wire = await text("wire.jsonl");
		const first = await open();
		const { epoch } = first.cursor();
		expect(first.cursor()).toEqual({ epoch, seq: 10 });
		const rows = [
			...expectedRows,
			{ type: "message", message: { role: "user", content: [{ type: "text", text: "from kimi" }] } },
		];
		expect(first.contextRows).toEqual(rows);
		const expected = await readAll(first);
		expect(expected.slice(-2)).toMatchObject([
			{ seq: 9, epoch, turnId: null, body: { type: "turn.started", input: "from kimi" } },
			{ seq: 10, epoch, body: { type: "turn.ended", outcome: null } },
		]);
		await first.close();
		// Nothing more was committed: the same is found again.
		const second = await open();
		expect(await readAll(second)).toEqual(expected);
		await second.commit({ events: [eventAt({ type: "compaction.started" })] });
		expect((await readAll(second)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
		const after = await text("wire.jsonl");
		expect(after.startsWith(wire)).toBe(true);
		const third = await open();
		expect((await readAll(third)).slice(0, 10)).toEqual(expected);
		expect(third.contextRows).toEqual(rows);
		await third.close();
		// The journal has it all by itself.
		await rm(file("context.jsonl"));
		await rm(file("wire.jsonl"));
		const last = await open();
		expect(last.contextRows).toEqual(rows);
		expect((await readAll(last)).slice(0, 10)).toEqual(expected);
	});

	it("has what another program appended in the journal before anyone is given its numbers", async () => {
		await use("closed");
		const own = (await text("wire.jsonl")).length;
		await appendFile(file("wire.jsonl"), foreignTurn + foreignEnd);
		const given = await readAll(await open());
		// The other program has synced nothing.
		await truncate(file("wire.jsonl"), own + 10);
		const again = await open();
		expect(await readAll(again)).toEqual(given);
		await again.commit({ events: [eventAt({ type: "compaction.started" })] });
		expect(await text("wire.jsonl")).toContain("from kimi");
	});

	describe("when the machine was started since", () => {
		const openLater = (bootedAt: number) => place.openStore({ bootedAt }).openOrCreate(place.workDir, id);
		const afterNow = () => Date.now() + 60_000;

		it("has another epoch where it had not been closed, once", async () => {
			await use("crashed");
			const before = await open();
			const events = await readAll(before);
			const booted = afterNow();
			const session = await openLater(booted);
			const { epoch, seq } = session.cursor();
			expect([seq, epoch === before.cursor().epoch]).toEqual([before.cursor().seq, false]);
			expect(await readAll(session)).toEqual(events.map((event) => ({ ...event, epoch })));
			expect(session.contextRows).toEqual(expectedRows);
			await touch("journal.jsonl", booted + 1000);
			expect((await openLater(booted)).cursor()).toEqual({ epoch, seq });
		});

		it("has the epoch of before where it had been closed, or was written since", async () => {
			await use("closed");
			const { epoch } = (await open()).cursor();
			expect((await openLater(afterNow())).cursor().epoch).toBe(epoch);
			await use("crashed");
			expect((await openLater(Date.now() - 60_000)).cursor().epoch).toBe(epoch);
		});

		it("gets the lines of other files that it lacks, too", async () => {
			await use("crashed");
			const wire = await text("wire.jsonl");
			await cutLines("wire.jsonl", 2);
			await cutLines("context.jsonl", 1);
			await (await openLater(afterNow())).close();
			expect(await text("wire.jsonl")).toBe(wire);
			expect((await open()).contextRows).toEqual(expectedRows);
		});
	});

	it("opens what another program appended where it cannot be stored", async () => {
		await use("closed");
		await appendFile(file("wire.jsonl"), foreignTurn);
		const { files } = createFailingFiles(createDiskFiles(), {
			at: ({ path: changed }) => changed === file("journal.jsonl"),
			mishap: { kind: "fail", code: "ENOSPC" },
		});
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		expect((await readAll(session)).at(-1)).toMatchObject({ seq: 9, body: { type: "turn.started" } });
	});

	it("takes over what another program appended after a crash, and writes what that had not got", async () => {
		await use("crashed");
		await cutLines("wire.jsonl", 1);
		await appendFile(file("wire.jsonl"), foreignTurn);
		const session = await open();
		const bodies = (await readAll(session)).map(({ body }) => body.type);
		expect(bodies.slice(-2)).toEqual(["turn.ended", "turn.started"]);
		await session.commit({ events: [eventAt({ type: "compaction.started" })] });
		const lines = (await text("wire.jsonl")).split("\n").slice(-4, -1);
		expect(lines.map((line) => JSON.parse(line).message.type)).toEqual(["TurnEnd", "TurnBegin", "CompactionBegin"]);
		const again = await open();
		expect((await readAll(again)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
	});

	it("takes over what another program appended during a run, once", async () => {
		const session = await open();
		await turn(session, "one");
		await appendFile(file("wire.jsonl"), foreignTurn);
		await appendFile(file("context.jsonl"), foreignRow);
		await turn(session, "two");
		const crashed = await open();
		const types = (await readAll(crashed)).map(({ body }) => body.type);
		expect(types.filter((type) => type === "turn.ended")).toHaveLength(2);
		expect(types.at(-1)).toBe("turn.started");
		expect(crashed.cursor().seq).toBe(9);
		expect(crashed.contextRows).toHaveLength(5);
		await crashed.commit({ events: [eventAt({ type: "compaction.started" })] });
		await crashed.close();
		const last = await open();
		expect(last.cursor().seq).toBe(10);
		expect(last.contextRows).toEqual(crashed.contextRows);
		await last.close();
	});

	it("leaves the order of the event log that another program appended to during a run, however the next run ends", async () => {
		const session = await open();
		await turn(session, "one");
		await appendFile(file("wire.jsonl"), foreignTurn);
		await turn(session, "two");
		const second = await open();
		await second.commit({ events: [eventAt({ type: "compaction.started" })] });
		const wire = await text("wire.jsonl");
		// The second one crashed as well: what it has taken over is not looked for again.
		const third = await open();
		expect(third.cursor()).toEqual(second.cursor());
		await third.commit({ events: [eventAt({ type: "compaction.ended" })] });
		expect((await text("wire.jsonl")).startsWith(wire)).toBe(true);
	});

	it("takes a context over that another program shortened", async () => {
		await use("closed");
		await cutLines("context.jsonl", 2);
		await touchLater("context.jsonl");
		const session = await open();
		expect(session.contextRows).toEqual(expectedRows.slice(0, 3));
		await session.commit({ context: { kind: "append", rows: [usage(4)] } });
		await session.close();
		await rm(file("context.jsonl"));
		expect((await open()).contextRows).toEqual([...expectedRows.slice(0, 3), usage(4)]);
	});

	it("finishes a replacement of the context that a crash interrupted", async () => {
		await use("crashed");
		const before = await text("context.jsonl");
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [usage(1)] } });
		const between = await text("context.jsonl");
		await session.commit({ context: { kind: "replace", rows: [prompt, usage(2)] } });
		await writeFile(file("context.jsonl"), between);
		expect(between.startsWith(before)).toBe(true);
		const again = await open();
		expect(again.contextRows).toEqual([prompt, usage(2)]);
		await again.commit({ context: { kind: "append", rows: [usage(3)] } });
		expect((await open()).contextRows).toEqual([prompt, usage(2), usage(3)]);
	});

	describe("of a version before the journal", () => {
		const header = '{"type": "metadata", "protocol_version": "1.10"}\n';
		const started = '{"timestamp":1,"message":{"type":"TurnBegin","payload":{"user_input":"old"}}}\n';
		const ended = '{"timestamp":2,"message":{"type":"TurnEnd","payload":{}}}\n';
		const oldContext = '{"role": "_system_prompt", "content": "You code."}\n{"role":"user","content":"old"}\n';
		const oldRow = { type: "message", message: { role: "user", content: [{ type: "text", text: "old" }] } };
		const calls = [
			{ at: 1, type: "asked", interactionId: "i", toolCallId: "a", action: "run command" },
			{ at: 1, type: "started", toolCallId: "a", name: "Shell", arguments: "{}" },
			{ at: 1, type: "started", toolCallId: "b", name: "Shell", arguments: null },
			{ at: 1, type: "finished", toolCallId: "a", isError: false },
			{ at: 1, type: "recovered", toolCallId: "b" },
			{ at: 1, type: "used", tokens: 5, milliseconds: 6, toolCalls: 7 },
		];
		const callLines = `${calls.map((call) => JSON.stringify(call)).join("\n")}\n`;
		const summary = {
			used: { tokens: 5, milliseconds: 6, toolCalls: 7 },
			unfinishedCalls: [{ toolCallId: "b", name: "Shell", arguments: null, isRecovered: true }],
			unretained: [],
			isInStep: false,
			openTurn: null,
			startedInputs: [],
			waitingSteers: [],
			keyedTurns: [],
		};
		beforeEach(async () => {
			await put("wire.jsonl", header + started + ended);
			await put("context.jsonl", oldContext);
			await put("calls.jsonl", callLines);
			await put("state.json", JSON.stringify({ plan_mode: true, color: "red" }));
		});

		it("opens with everything, and begins its journal behind it", async () => {
			const session = await open();
			expect(session.summary).toEqual(summary);
			expect([session.contextRows, session.state().planMode]).toEqual([[prompt, oldRow], true]);
			const { epoch } = session.cursor();
			expect(session.cursor().seq).toBe(2);
			expect(await readdir(directory)).not.toContain("journal.jsonl");
			await session.commit({ events: [eventAt({ type: "compaction.started" })] });
			const lines = (await text("journal.jsonl"))
				.split("\n")
				.slice(0, -1)
				.map((line) => JSON.parse(line));
			expect(lines[0]).toEqual({
				journal: 1,
				epoch,
				history: { wire: header.length + started.length + ended.length, events: 2 },
			});
			expect(lines.slice(1).map((line) => Object.keys(line)[0])).toEqual(["context", "state", "summary", "seq"]);
			expect(lines[1].rows).toEqual(
				oldContext
					.trimEnd()
					.split("\n")
					.map((line) => JSON.parse(line)),
			);
			expect(await text("calls.jsonl")).toBe(callLines);
			await session.close();
			const again = await open();
			expect(again.cursor()).toEqual({ epoch, seq: 3 });
			expect(again.summary).toEqual(summary);
			expect((await readAll(again)).map(({ seq, epoch: of, body }) => [seq, of, body.type])).toEqual([
				[1, epoch, "turn.started"],
				[2, epoch, "turn.ended"],
				[3, epoch, "compaction.started"],
			]);
			expect(await readAll(again, 2)).toHaveLength(1);
			expect(JSON.parse(await text("state.json"))).toMatchObject({ color: "red" });
			await again.close();
		});

		it("begins under another epoch when its old event log is lost", async () => {
			const session = await open();
			const { epoch } = session.cursor();
			await turn(session, "new");
			await session.close();
			await rm(file("wire.jsonl"));
			const again = await open();
			const fresh = again.cursor();
			expect(fresh.seq).toBe(4);
			expect(fresh.epoch).not.toBe(epoch);
			const events = await readAll(again);
			expect(events.map(({ seq, epoch: of }) => [seq, of])).toEqual([1, 2, 3, 4].map((seq) => [seq, fresh.epoch]));
			await again.commit({ events: [eventAt({ type: "compaction.started" })] });
			await again.close();
			const last = await open();
			expect(last.cursor()).toEqual({ epoch: fresh.epoch, seq: 5 });
			expect((await readAll(last)).slice(0, 4)).toEqual(events);
			expect(last.contextRows).toEqual([prompt, oldRow, promptRow, usage(3)]);
			expect(await text("wire.jsonl")).not.toContain('"old"');
			await last.close();
		});

		it("gets the calls that such a version adds later", async () => {
			const session = await open();
			await session.commit({ events: [eventAt({ type: "compaction.started" })] });
			await session.close();
			await appendFile(
				file("calls.jsonl"),
				`${JSON.stringify({ at: 2, type: "started", toolCallId: "c", name: "Shell", arguments: "{}" })}\n`,
			);
			expect((await open()).summary.unfinishedCalls.map(({ toolCallId }) => toolCallId)).toEqual(["b", "c"]);
		});
	});

	it("keeps the number of an event that cannot be read", async () => {
		await use("closed");
		const lines = (await text("journal.jsonl")).split("\n");
		const index = lines.findIndex((line) => line.startsWith('{"seq":2,'));
		lines[index] = '{"seq":2,"at":1,"turn":null,"event":{"type":"of the future"}}';
		await put("journal.jsonl", lines.join("\n"));
		const log = createMemoryLog();
		const session = await open(log);
		expect((await readAll(session)).map(({ seq }) => seq)).toEqual([1, 3, 4, 5, 6, 7, 8]);
		expect(log.lines).toContainEqual(
			expect.objectContaining({ level: "warn", fields: expect.objectContaining({ skipped: 1 }) }),
		);
		const [event] = await session.commit({ events: [eventAt({ type: "compaction.started" })] });
		expect(event?.seq).toBe(9);
	});

	it("reads no more of the journal than what follows its last summary", async () => {
		const session = await open();
		const part = { type: "text", text: "x".repeat(1000) } as const;
		for (let count = 0; count < 500; count += 1) {
			await session.commit({ events: [eventAt({ type: "content.completed", part })] });
		}
		await session.close();
		let bytes = 0;
		const files = createDiskFiles();
		const counting = {
			...files,
			async readRange(target: string, offset: number, length: number) {
				const range = await files.readRange(target, offset, length);
				bytes += target.endsWith("journal.jsonl") ? (range?.length ?? 0) : 0;
				return range;
			},
			readPieces(): AsyncIterable<Buffer> {
				throw new Error("The whole file is read.");
			},
		};
		const again = await place.openStore({ files: counting }).openOrCreate(place.workDir, id);
		expect(again.cursor().seq).toBe(500);
		expect(bytes).toBeLessThan(200_000);
		await again.close();
	});

	it("looks at each of its files once and reads it once when it is opened", async () => {
		await use("closed");
		// The files are as an earlier hour left them.
		const before = new Date(Date.now() - 3_600_000);
		for (const name of await readdir(directory)) await utimes(file(name), before, before);
		const disk = createDiskFiles();
		const looks: string[] = [];
		const reads: string[] = [];
		const counting = {
			...disk,
			status(target: string) {
				looks.push(path.basename(target));
				return disk.status(target);
			},
			read(target: string) {
				reads.push(path.basename(target));
				return disk.read(target);
			},
			readRange(target: string, offset: number, length: number) {
				reads.push(path.basename(target));
				return disk.readRange(target, offset, length);
			},
			async *readPieces(target: string) {
				reads.push(path.basename(target));
				yield* disk.readPieces(target);
			},
		};
		const session = await place.openStore({ files: counting }).openOrCreate(place.workDir, id);
		expect(session.contextRows).toEqual(expectedRows);
		const logs = ["calls.jsonl", "context.jsonl", "journal.jsonl", "metadata.json", "state.json", "wire.jsonl"];
		// One more look at the journal says that there is a session, before its lease is taken.
		expect(looks.toSorted()).toEqual([...logs, "journal.jsonl"].toSorted());
		expect(reads.toSorted()).toEqual(["context.jsonl", "journal.jsonl", "state.json"]);
		reads.length = 0;
		await session.commit({ events: [eventAt({ type: "compaction.started" })] });
		await session.commit({ events: [eventAt({ type: "compaction.started" })] });
		// Of the others it is known that they end with a whole line.
		expect(reads.filter((name) => name.endsWith(".jsonl"))).toEqual(["wire.jsonl"]);
		await session.close();
	});

	it("reads a state whole that another program replaces by a longer one while the session is opened", async () => {
		await use("closed");
		const disk = createDiskFiles();
		const log = createMemoryLog();
		const replacing = {
			...disk,
			async read(target: string) {
				if (path.basename(target) === "state.json") {
					const state: unknown = JSON.parse(await text("state.json"));
					await writeFile(target, JSON.stringify({ ...Object(state), custom_title: "A long title ".repeat(20) }));
				}
				return await disk.read(target);
			},
		};
		const session = await place.openStore({ files: replacing, log }).openOrCreate(place.workDir, id);
		expect(session.state()).toMatchObject({ planMode: true, customTitle: expect.stringContaining("A long title") });
		expect(log.lines.filter(({ level }) => level !== "info")).toEqual([]);
		await session.close();
	});

	it.each(["journal.jsonl", "context.jsonl"])("finds half a line that came to %s after it was read", async (name) => {
		await use("closed");
		const before = new Date(Date.now() - 3_600_000);
		for (const each of await readdir(directory)) await utimes(file(each), before, before);
		const session = await open();
		await appendFile(file(name), '{"half');
		await session.commit({
			events: [eventAt({ type: "compaction.started" })],
			context: { kind: "append", rows: [usage(7)] },
		});
		await session.close();
		expect(await text(name)).not.toContain("half");
		expect((await open()).contextRows).toEqual([...expectedRows, usage(7)]);
	});

	it("refuses a journal of a newer format", async () => {
		await use("closed");
		await put("journal.jsonl", (await text("journal.jsonl")).replace('{"journal":1', '{"journal":2'));
		await expect(place.openStore().open(place.workDir, id)).rejects.toMatchObject({
			code: "storage-failed",
			message: expect.stringContaining("newer version"),
		});
	});

	it("moves a journal aside that cannot be read, and begins another one from the other logs", async () => {
		await use("closed");
		await put("journal.jsonl", "no journal\nat all\n");
		const session = await open();
		expect(session.contextRows).toEqual(expectedRows);
		expect(session.cursor().seq).toBe(6);
		await session.commit({ events: [eventAt({ type: "compaction.started" })] });
		expect(await text("journal.jsonl.damaged-1")).toBe("no journal\nat all\n");
		expect((await readAll(await open())).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
	});

	it("has a journal of readable lines whose groups are closed", async () => {
		await use("closed");
		const lines = (await text("journal.jsonl"))
			.trimEnd()
			.split("\n")
			.map((line): unknown => JSON.parse(line));
		expect(lines.every(isRecord)).toBe(true);
		expect(lines.at(-1)).toMatchObject({ summary: { seq: 8, clean: true } });
	});

	it("is found as long as its journal is there, also when it was established and never used", async () => {
		const session = await open();
		await session.establish();
		await session.commit({ state: { planMode: true } });
		await session.close();
		for (const name of ["context.jsonl", "state.json"]) await rm(file(name));
		for (let time = 0; time < 2; time += 1) {
			const again = await place.openStore().open(place.workDir, id);
			expect(again?.state().planMode).toBe(true);
			await again?.close();
		}
	});
});
