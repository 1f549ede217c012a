import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeStoreContract, eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";

describeStoreContract("disk", createStoreDirectory);

const id = "11111111-2222-4333-8444-555555555555";
const headerLine = '{"type": "metadata", "protocol_version": "1.10"}';

describe("sessions on disk", () => {
	let place: StoreDirectory;
	let directory: string;

	beforeEach(async () => {
		place = await createStoreDirectory();
		const hash = createHash("md5").update(place.workDir).digest("hex");
		directory = path.join(place.shareDir, "sessions", hash, id);
	});
	afterEach(() => place.cleanUp());

	const file = (name: string): string => path.join(directory, name);
	const text = (name: string): Promise<string> => readFile(file(name), "utf8");
	const lines = async (name: string): Promise<string[]> => (await text(name)).split("\n").slice(0, -1);
	const open = (log = createMemoryLog()) => place.openStore({ log }).openOrCreate(place.workDir, id);
	const index = async (): Promise<unknown> =>
		JSON.parse(await readFile(path.join(place.shareDir, "kimi.json"), "utf8"));
	const put = async (name: string, content: string): Promise<void> => {
		await mkdir(directory, { recursive: true });
		await writeFile(file(name), content);
	};

	it("creates nothing for a session that stays idle", async () => {
		const session = await open();
		expect(session.directory).toBe(directory);
		await session.commit({ context: { kind: "append", rows: [] } });
		await session.commit({ events: [] });
		await session.commit({}, { sync: true });
		await session.close();
		expect(await readdir(place.root)).toEqual([]);
	});

	it("reads a context without a lease and without writing anything", async () => {
		await put("context.jsonl", '{"role": "_checkpoint", "id": 0}\n{"role":"user","content":"Say hello"}\n{"role":"us');
		const before = await readdir(place.root, { recursive: true });
		const counting = createFailingFiles(createDiskFiles());
		const rows = await place.openStore({ files: counting.files }).readContext(place.workDir, id);
		expect(rows).toEqual([{ type: "checkpoint", id: 0 }, promptRow]);
		expect(counting.effects).toEqual([]);
		expect(await readdir(place.root, { recursive: true })).toEqual(before);
	});

	it("reads a context of the layout before session directories", async () => {
		await mkdir(path.dirname(directory), { recursive: true });
		await writeFile(`${directory}.jsonl`, '{"role":"user","content":"Say hello"}\n');
		expect(await place.openStore().readContext(place.workDir, id)).toEqual([promptRow]);
		expect(await readdir(path.dirname(directory))).toEqual([`${id}.jsonl`]);
	});

	it("names the file of an unreadable context", async () => {
		const files = { ...createDiskFiles(), status: () => Promise.reject(new Error("EIO")) };
		await expect(place.openStore({ files }).readContext(place.workDir, id)).rejects.toMatchObject({
			code: "storage-failed",
			message: `Cannot read the session in ${directory}: EIO`,
		});
	});

	it("leaves a session that another program prepared unchanged until its first write", async () => {
		await put("context.jsonl", "");
		const listed = { work_dirs: [{ path: place.workDir, kaos: "local", last_session_id: null }] };
		await writeFile(path.join(place.shareDir, "kimi.json"), JSON.stringify(listed));
		expect(await place.openStore().workDirOf(id)).toBe(place.workDir);
		const idle = await open();
		expect([idle.existed, idle.contextRows]).toEqual([false, []]);
		await idle.close();
		expect(await readdir(directory)).toEqual(["context.jsonl"]);
		const used = await open();
		await used.commit({ context: { kind: "append", rows: [promptRow] } });
		await used.close();
		expect((await open()).existed).toBe(true);
		expect(await text("context.jsonl")).toBe('{"role":"user","content":"Say hello"}\n');
	});

	it("ignores work directories of kimi.json that are not absolute paths", async () => {
		await put("context.jsonl", "");
		const paths = ["", ".", "../x", "a\0b", "/a\0b", place.workDir];
		const listed = { work_dirs: paths.map((name) => ({ path: name, kaos: "local", last_session_id: "../../x" })) };
		await writeFile(path.join(place.shareDir, "kimi.json"), JSON.stringify(listed));
		const store = place.openStore();
		expect(await store.workDirOf(id)).toBe(place.workDir);
		expect(await store.lastSessionId(place.workDir)).toBeNull();
	});

	it("finds the last session of a work directory without kimi.json", async () => {
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.close();
		await rm(path.join(place.shareDir, "kimi.json"));
		expect(await place.openStore().lastSessionId(place.workDir)).toBe(id);
		await writeFile(path.join(place.shareDir, "kimi.json"), "");
		expect(await place.openStore().lastSessionId(place.workDir)).toBe(id);
		expect(await place.openStore().lastSessionId(path.join(place.workDir, "other"))).toBeNull();
	});

	it("returns no work directory of a session that kimi.json does not list", async () => {
		await put("context.jsonl", "");
		expect(await place.openStore().workDirOf(id)).toBeNull();
	});

	it("writes the files of the layout, and registers the work directory", async () => {
		const session = await open();
		await session.commit({
			context: {
				kind: "append",
				rows: [{ type: "system-prompt", content: "Né 😀\n" }, { type: "checkpoint", id: 0 }, promptRow],
			},
		});
		await session.commit({ events: [eventAt({ type: "turn.started", input: "Né" }, 1_700_000_000_250)] });
		await session.commit({ state: { customTitle: "Né" } });
		expect((await readdir(directory)).sort()).toEqual(["context.jsonl", "journal.jsonl", "state.json", "wire.jsonl"]);
		expect(await text("context.jsonl")).toBe(
			'{"role": "_system_prompt", "content": "N\\u00e9 \\ud83d\\ude00\\n"}\n{"role": "_checkpoint", "id": 0}\n' +
				'{"role":"user","content":"Say hello"}\n',
		);
		expect(await text("wire.jsonl")).toBe(
			`${headerLine}\n{"timestamp":1700000000.25,"message":{"type":"TurnBegin","payload":{"user_input":"Né"}}}\n`,
		);
		expect(await text("state.json")).toBe(
			JSON.stringify(
				{
					version: 1,
					approval: { yolo: false, afk: false, auto_approve_actions: [] },
					additional_dirs: [],
					custom_title: "Né",
					title_generated: false,
					title_generate_attempts: 0,
					plan_mode: false,
					plan_session_id: null,
					plan_slug: null,
					wire_mtime: null,
					archived: false,
					archived_at: null,
					auto_archive_exempt: false,
					todos: [],
				},
				null,
				2,
			),
		);
		const entry = { path: place.workDir, kaos: "local", last_session_id: null };
		expect(await index()).toEqual({ work_dirs: [entry] });
		await session.markStarted();
		expect(await index()).toEqual({ work_dirs: [{ ...entry, last_session_id: id }] });
	});

	it("prepares the first write without a trace of the session", async () => {
		const session = await open();
		await session.warmUp?.();
		expect(await readdir(place.root)).not.toContain("share");
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		expect(await text("context.jsonl")).toContain("Say hello");
	});

	it("stores a copy of each replaced context, under the first free number", async () => {
		await put("context_2.jsonl", "of somebody else\n");
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content: "One" }] } });
		await session.commit({ context: { kind: "replace", rows: [{ type: "system-prompt", content: "Two" }] } });
		await session.commit({ context: { kind: "replace", rows: [] } });
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		expect(await text("context_1.jsonl")).toBe('{"role": "_system_prompt", "content": "One"}\n');
		expect(await text("context_2.jsonl")).toBe("of somebody else\n");
		expect(await text("context_3.jsonl")).toBe('{"role": "_system_prompt", "content": "Two"}\n');
		expect(await text("context.jsonl")).toBe('{"role":"user","content":"Say hello"}\n');
	});

	it("writes the header with the first record when the log is missing or empty, and at no other time", async () => {
		await put("wire.jsonl", "");
		await (await open()).commit({ events: [eventAt({ type: "compaction.started" })] });
		expect((await lines("wire.jsonl"))[0]).toBe(headerLine);
		await rm(directory, { recursive: true });
		await put("wire.jsonl", '{"timestamp": 1, "message": {"type": "TurnBegin", "payload": {"user_input": "old"}}}\n');
		const session = await open();
		await session.commit({ events: [eventAt({ type: "compaction.started" })] });
		expect(await lines("wire.jsonl")).toHaveLength(2);
		expect((await readAll(session)).map(({ at, body }) => [at, body.type])).toEqual([
			[1000, "turn.started"],
			[1_700_000_000_123, "compaction.started"],
		]);
	});

	it("opens a session of an unlisted work directory, and changes nothing by opening", async () => {
		const content = '{"role":"user","content":"Hi"}\n{"role":"user","con';
		await put("context.jsonl", content);
		const log = createMemoryLog();
		const session = await open(log);
		expect(session.existed).toBe(true);
		expect(session.contextRows).toEqual([
			{ type: "message", message: { role: "user", content: [{ type: "text", text: "Hi" }] } },
		]);
		expect(await text("context.jsonl")).toBe(content);
		expect(log.lines).toMatchObject([{ level: "warn", fields: { skipped: 1 } }]);
	});

	it("removes a partial last line before the first append and logs its bytes", async () => {
		const rest = '{"role":"user","content":"ü';
		const whole = `{"role":"user","content":"Hi"}\n${" ".repeat(70_000)}\n`;
		await put("context.jsonl", whole + rest);
		const log = createMemoryLog();
		const session = await open(log);
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		expect(await text("context.jsonl")).toBe(`${whole}{"role": "_checkpoint", "id": 1}\n`);
		const cut = log.lines.find((line) => line.message.includes("cut off"));
		expect(Buffer.from(String(cut?.fields["base64"]), "base64").toString()).toBe(rest);
	});

	it("writes the header again after a crash left only a part of it", async () => {
		await put("wire.jsonl", headerLine.slice(0, 20));
		await (await open()).commit({ events: [eventAt({ type: "compaction.started" })] });
		expect(await lines("wire.jsonl")).toHaveLength(2);
		expect((await lines("wire.jsonl"))[0]).toBe(headerLine);
	});

	it("reads a last record without its newline as a record", async () => {
		await put("context.jsonl", '{"role":"user","content":"Hi"}');
		const session = await open();
		expect(session.contextRows).toHaveLength(1);
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		expect(await text("context.jsonl")).toBe('{"role":"user","content":"Hi"}\n{"role": "_checkpoint", "id": 1}\n');
	});

	it("starts afresh in a directory without a context and leaves other files alone", async () => {
		await mkdir(path.join(directory, "baseline"), { recursive: true });
		await put("wire.jsonl", `${headerLine}\n{"timestamp":1,"message":{"type":"CompactionBegin","payload":{}}}\n`);
		const session = await open();
		expect(session.existed).toBe(false);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.commit({ events: [eventAt({ type: "compaction.ended" })] });
		expect(await lines("wire.jsonl")).toHaveLength(3);
		await session.close();
		expect((await readdir(directory)).sort()).toEqual(["baseline", "context.jsonl", "journal.jsonl", "wire.jsonl"]);
	});

	it("removes only its own files from a shared directory", async () => {
		await mkdir(path.join(directory, "baseline"), { recursive: true });
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 0 }] } });
		await session.close();
		expect(await readdir(directory)).toEqual(["baseline"]);
	});

	it("does not treat unreadable content as an empty session", async () => {
		await put("context.jsonl", "\0\0\0\n");
		await (await open()).close();
		expect(await text("context.jsonl")).toBe("\0\0\0\n");
	});

	it("ends a session without reading its log again, however long that is", async () => {
		const prompt = JSON.stringify("long ".repeat(1_000_000));
		const turn = `{"timestamp": 1, "message": {"type": "TurnBegin", "payload": {"user_input": ${prompt}}}}`;
		await put("wire.jsonl", `${headerLine}\n${turn}\n`);
		await put("context.jsonl", `{"role": "user", "content": ${prompt}}\n`);
		const disk = createDiskFiles();
		let bytesRead = 0;
		const files: Files = {
			...disk,
			async *readPieces(target) {
				for await (const piece of disk.readPieces(target)) {
					bytesRead += piece.length;
					yield piece;
				}
			},
		};
		const session = await place.openStore({ files }).openOrCreate(place.workDir, id);
		bytesRead = 0;
		await session.close();
		expect(bytesRead).toBeLessThan(1_000_000);
		expect(await place.openStore().list({ workDir: place.workDir })).toMatchObject({
			sessions: [{ id, workDir: place.workDir, title: expect.stringMatching(/^long long/) }],
		});
	});

	it("moves a context of the old layout into the session directory at the first write", async () => {
		const old = `${directory}.jsonl`;
		await mkdir(path.dirname(directory), { recursive: true });
		await writeFile(old, '{"role":"user","content":"Hi"}\n');
		expect(await place.openStore().list({ workDir: place.workDir })).toMatchObject({
			sessions: [{ id, title: "Untitled" }],
		});
		const session = await open();
		expect(session.existed).toBe(true);
		expect(session.contextRows).toHaveLength(1);
		await stat(old);
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 0 }] } });
		expect(await lines("context.jsonl")).toHaveLength(2);
		await expect(stat(old)).rejects.toMatchObject({ code: "ENOENT" });
	});

	it("fails with a clear error when the session directory is deleted", async () => {
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await rm(directory, { recursive: true });
		const failure = { code: "storage-failed", message: expect.stringContaining(directory) };
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject(failure);
		await expect(session.commit({ events: [eventAt({ type: "compaction.started" })] })).rejects.toMatchObject(failure);
		await expect(session.commit({ state: { planMode: true } })).rejects.toMatchObject(failure);
		await session.commit({}, { sync: true }).catch(() => undefined);
		await session.close();
		await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
		expect(await place.openStore().lastSessionId(place.workDir)).toBeNull();
	});

	it("does not recreate a deleted session partially", async () => {
		await put("context.jsonl", '{"role":"user","content":"Hi"}\n');
		const session = await open();
		await rm(directory, { recursive: true });
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject({
			code: "storage-failed",
		});
		await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
	});

	it("opens an unreadable session, and reports the fault at the first write", async () => {
		await put("context.jsonl", '{"role":"user","content":"Hi"}\n');
		const files = createDiskFiles();
		const failing = {
			...files,
			read: () => Promise.reject(Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" })),
		};
		const store = place.openStore({ files: failing });
		const session = await store.openOrCreate(place.workDir, id);
		const failure = { code: "storage-failed", message: expect.stringMatching(/EACCES/) };
		await expect(session.commit({ context: { kind: "append", rows: [promptRow] } })).rejects.toMatchObject(failure);
		await expect(store.open(place.workDir, id)).rejects.toMatchObject(failure);
		await session.close();
		expect(await lines("context.jsonl")).toHaveLength(1);
	});

	it("reads a long event log in pieces", async () => {
		const session = await open();
		const part = { type: "text", text: "x".repeat(1000) } as const;
		await session.commit({
			events: Array.from({ length: 3000 }, (_, n) =>
				eventAt({ type: "content.completed", part }, 1_700_000_000_000 + n),
			),
		});
		let largest = 0;
		const files = createDiskFiles();
		const counting = {
			...files,
			async *readPieces(target: string) {
				for await (const piece of files.readPieces(target)) {
					largest = Math.max(largest, piece.length);
					yield piece;
				}
			},
		};
		const again = await place.openStore({ files: counting }).openOrCreate(place.workDir, id);
		let count = 0;
		for await (const batch of again.events()) {
			for (const event of batch) {
				expect(event.at).toBe(1_700_000_000_000 + count);
				count += 1;
			}
		}
		expect(count).toBe(3000);
		expect(largest).toBeLessThanOrEqual(256 * 1024);
	});

	it("appends after the lines of another writer", async () => {
		const session = await open();
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await appendFile(file("context.jsonl"), '{"role": "_usage", "token_count": 5}\n');
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		const rows: readonly ContextRow[] = [promptRow, { type: "usage", tokenCount: 5 }, { type: "checkpoint", id: 1 }];
		expect((await open()).contextRows).toEqual(rows);
	});
});
