import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { unzipSync } from "fflate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { createFailingFiles } from "../../../test/support/store/failing-files.ts";
import { type PlacedSession, placeFixture } from "../../../test/support/store/session-fixtures.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { type ExportServices, exportSession } from "./session-export.ts";

const disk = createDiskFiles();

describe("exportSession", () => {
	let place: PlacedSession;
	let outDir: string;
	let printed: string[];
	let complaints: string[];

	beforeEach(async () => {
		place = await placeFixture("plain");
		outDir = path.join(path.dirname(place.workDir), "out");
		await mkdir(outDir);
		printed = [];
		complaints = [];
	});
	afterEach(() => place.remove());

	const run = (
		options: { readonly sessionId?: string; readonly output?: string; readonly yes?: boolean } = {},
		overrides: Partial<ExportServices> = {},
	) =>
		exportSession(
			{ sessionId: null, output: outDir, replayable: false, yes: false, ...options },
			{
				executableName: "agentwire",
				files: disk,
				currentDir: place.workDir,
				home: path.dirname(place.shareDir),
				shareDir: place.shareDir,
				now: () => Date.UTC(2026, 10, 22),
				ask: null,
				print: (line) => void printed.push(line),
				complain: (line) => void complaints.push(line.replaceAll(path.dirname(place.workDir), "ROOT")),
				signal: new AbortController().signal,
				...overrides,
			},
		);
	const archivePath = () => path.join(outDir, `session-${place.id}.zip`);
	const archive = async (file = archivePath()): Promise<Record<string, Uint8Array>> => unzipSync(await readFile(file));
	const manifest = async () => JSON.parse(Buffer.from((await archive())["manifest.json"] ?? []).toString());
	const sessionFiles = ["context.jsonl", "state.json", "wire.jsonl"];

	it("writes the last session with a manifest, readable by the owner only", async () => {
		expect(await run()).toBe(0);
		expect([printed, complaints]).toEqual([[archivePath()], []]);
		expect(await readdir(outDir)).toEqual([path.basename(archivePath())]);
		expect((await stat(archivePath())).mode & 0o777).toBe(0o600);
		const entries = await archive();
		expect(Object.keys(entries)).toEqual([...sessionFiles, "manifest.json"]);
		for (const name of sessionFiles) {
			expect(Buffer.from(entries[name] ?? []).equals(await readFile(path.join(place.directory, name)))).toBe(true);
		}
		expect(await manifest()).toEqual({
			format_version: 1,
			session_id: place.id,
			title: "Say hello",
			work_dir: place.workDir,
			created_at: expect.stringMatching(/^2026-11-20T/),
			exported_at: "2026-11-22T00:00:00.000Z",
			agentwire_version: packageJson.version,
			files: sessionFiles.map((name) => ({ path: name, size: entries[name]?.length })),
			left_out: [],
		});
	});

	it("finds a session of another work directory by its id", async () => {
		expect(await run({ sessionId: place.id }, { currentDir: "/" })).toBe(0);
		expect(await manifest()).toMatchObject({ work_dir: place.workDir });
	});

	it("adds the plan and the logs of the program", async () => {
		for (const name of ["plans", "logs/old"]) await mkdir(path.join(place.shareDir, name), { recursive: true });
		const put = (name: string) => writeFile(path.join(place.shareDir, name), name);
		for (const name of ["plans/blue-moon.md", "plans/other.md", "logs/agentwire.log", "logs/notes", "logs/old/x.log"]) {
			await put(name);
		}
		await writeFile(path.join(place.directory, "state.json"), '{"plan_mode": true, "plan_slug": "blue-moon"}');
		expect(await run()).toBe(0);
		const entries = await archive();
		expect(Object.keys(entries)).toEqual([
			...sessionFiles,
			"plans/blue-moon.md",
			"logs/agentwire.log",
			"manifest.json",
		]);
		expect(Buffer.from(entries["plans/blue-moon.md"] ?? []).toString()).toBe("plans/blue-moon.md");
	});

	it("finds the plan at the path of an older version", async () => {
		const shareDir = path.join(path.dirname(place.shareDir), "elsewhere");
		await disk.rename(place.shareDir, shareDir);
		await mkdir(path.join(place.shareDir, "plans"), { recursive: true });
		await writeFile(path.join(place.shareDir, "plans/blue-moon.md"), "old");
		const state = place.directory.replace(place.shareDir, shareDir);
		await writeFile(path.join(state, "state.json"), '{"plan_mode": true, "plan_slug": "blue-moon"}');
		expect(await run({}, { shareDir })).toBe(0);
		expect(Object.keys(await archive())).toContain("plans/blue-moon.md");
	});

	it("gives every file a unique name", async () => {
		await writeFile(path.join(place.directory, "manifest.json"), "mine");
		for (const directory of [place.shareDir, place.directory]) {
			await mkdir(path.join(directory, "logs"));
			await writeFile(path.join(directory, "logs/a.log"), directory);
		}
		expect(await run()).toBe(0);
		const entries = await archive();
		const text = (name: string) => Buffer.from(entries[name] ?? []).toString();
		expect(text("manifest.json~2")).toBe("mine");
		expect([text("logs/a.log"), text("logs/a.log~2")]).toEqual([place.directory, place.shareDir]);
	});

	it.each([
		["a directory", "out", "out/NAME"],
		["a file", "out/x.zip", "out/x.zip"],
		["the current directory", ".", "work/NAME"],
		["a directory of the home", "~/.kimi", "home/.kimi/NAME"],
	])("writes to %s", async (_, output, expected) => {
		const typed = output.replace(/^out/, "../out");
		expect(await run({ output: typed })).toBe(0);
		const target = path.join(outDir, "..", expected.replace("NAME", path.basename(archivePath())));
		expect(printed).toEqual([target]);
		expect(Object.keys(await archive(target))).toContain("wire.jsonl");
	});

	it("replaces an earlier archive, and nothing else", async () => {
		expect(await run()).toBe(0);
		expect(await run()).toBe(0);
		for (const content of ["mine", ""]) {
			await writeFile(path.join(outDir, "mine"), content);
			expect(await run({ output: path.join(outDir, "mine") })).toBe(1);
			expect(await readFile(path.join(outDir, "mine"), "utf8")).toBe(content);
		}
		expect(complaints[0]).toBe("ROOT/out/mine already exists and is not a ZIP file. Give another path with --output.");
	});

	it.each([
		["none/x.zip", "There is no directory ROOT/work/none."],
		["none/", "There is no directory ROOT/work/none."],
	])("reports why it cannot write to %s", async (output, complaint) => {
		expect(await run({ output })).toBe(1);
		expect([printed, complaints]).toEqual([[], [complaint]]);
	});

	it("asks for confirmation unless --yes is given", async () => {
		const questions: string[] = [];
		const ask = (answer: boolean) => async (question: string) => {
			questions.push(question);
			return answer;
		};
		expect(await run({}, { ask: ask(false) })).toBe(1);
		expect(questions).toEqual([`Write ${archivePath()}? [y/N] `]);
		expect(complaints).toEqual([
			`Session ${place.id} in ROOT/work: Say hello`,
			expect.stringContaining("secrets"),
			"Nothing was exported.",
		]);
		expect(await readdir(outDir)).toEqual([]);
		expect(await run({ yes: true }, { ask: ask(false) })).toBe(0);
		await rm(archivePath());
		expect(await run({}, { ask: ask(true) })).toBe(0);
		expect(await readdir(outDir)).toHaveLength(1);
		expect(questions).toHaveLength(2);
	});

	it("says what to do when there is no session", async () => {
		expect(await run({}, { currentDir: "/" })).toBe(1);
		expect(complaints[0]).toMatch(/^There is no session in \/ yet\..*agentwire export SESSION_ID$/);
		expect(await run({ sessionId: "none" })).toBe(1);
		expect(complaints[1]).toMatch(
			/^There is no session none in ROOT\/work, nor .* below ROOT\/home\/\.kimi\/sessions;/,
		);
		await expect(run({ sessionId: "../x" })).rejects.toThrow(UsageError);
	});

	it("names the files that it leaves out", async () => {
		await symlink("/etc", path.join(place.directory, "etc"));
		const failing: Files = {
			...disk,
			readRange: (file, offset, length) =>
				file.endsWith("state.json") ? Promise.reject(new Error("EACCES")) : disk.readRange(file, offset, length),
			list: (directory) => (directory.endsWith("logs") ? Promise.reject(new Error("EPERM")) : disk.list(directory)),
		};
		await mkdir(path.join(place.shareDir, "logs"));
		expect(await run({}, { files: failing })).toBe(0);
		expect(complaints).toEqual([
			"Left out: etc (a symbolic link)",
			"Left out: logs (EPERM)",
			"Left out: state.json (EACCES)",
		]);
		expect(Object.keys(await archive())).toEqual(["context.jsonl", "wire.jsonl", "manifest.json"]);
		expect((await manifest()).left_out).toEqual([
			{ path: "etc", reason: "a symbolic link" },
			{ path: "logs", reason: "EPERM" },
			{ path: "state.json", reason: "EACCES" },
		]);
	});

	it("reports a file that disappeared meanwhile", async () => {
		const vanishing: Files = {
			...disk,
			readRange: async (file, offset, length) =>
				file.endsWith("state.json") ? null : disk.readRange(file, offset, length),
		};
		expect(await run({}, { files: vanishing })).toBe(0);
		expect(complaints).toEqual(["Left out: state.json (removed meanwhile)"]);
	});

	it("archives an endlessly growing file as it was at the start", async () => {
		const log = path.join(place.directory, "wire.jsonl");
		const size = (await stat(log)).size;
		const growing: Files = {
			...disk,
			async *readPieces(file) {
				yield* disk.readPieces(file);
				while (file === log) yield Buffer.from("more\n");
			},
		};
		// Title and times come from its beginning.
		expect(await run({}, { files: growing })).toBe(0);
		expect((await archive())["wire.jsonl"]).toHaveLength(size);
	});

	it("writes nothing when a file cannot be read to its end or the disk is full", async () => {
		const failing: Files = {
			...disk,
			async *readPieces(file) {
				yield* disk.readPieces(file);
				if (file.endsWith("context.jsonl")) throw new Error("EIO");
			},
		};
		const grown: Files = {
			...failing,
			status: async (file) => {
				const status = await disk.status(file);
				return status === null ? null : { ...status, size: status.size + 1 };
			},
		};
		expect(await run({}, { files: grown })).toBe(1);
		expect(complaints[0]).toMatch(/^ROOT\/home\/.*context\.jsonl cannot be read: EIO$/);
		const full: Files = { ...disk, replaceByPieces: () => Promise.reject(new Error("ENOSPC: no space left")) };
		expect(await run({}, { files: full })).toBe(1);
		expect(complaints[1]).toBe("The session could not be exported: ENOSPC: no space left");
		expect(await readdir(outDir)).toEqual([]);
	});

	it("leaves no files when it is interrupted", async () => {
		const stopping = new AbortController();
		stopping.abort(new Error("stopped"));
		expect(await run({}, { signal: stopping.signal })).toBe(1);
		expect(complaints).toEqual(["The session could not be exported: stopped"]);
		expect(await readdir(outDir)).toEqual([]);
	});

	it("refuses a session that a ZIP file cannot contain", async () => {
		const huge: Files = {
			...disk,
			status: async (file) => {
				const status = await disk.status(file);
				return status === null || !file.endsWith("wire.jsonl") ? status : { ...status, size: 5_000_000_000 };
			},
		};
		expect(await run({}, { files: huge })).toBe(1);
		expect(complaints[0]).toMatch(/has 3 files of 5000 MB in all: more than a ZIP file can hold\.$/);
	});

	it("changes nothing but its archive", async () => {
		const counting = createFailingFiles(disk);
		expect(await run({}, { files: counting.files })).toBe(0);
		expect(counting.effects).toEqual([{ n: 1, kind: "replace", path: archivePath() }]);
	});
});
