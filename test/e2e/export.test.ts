// Sessions as ZIP files, made by the built executable: every byte is in them, and nothing that was read has changed.
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { unzipSync } from "fflate";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";
import { listFixtures, placeFixture } from "../support/store/session-fixtures.ts";

/** Every file below a directory with its bytes and the time of its last change. */
function snapshot(directory: string): Map<string, { readonly bytes: Buffer; readonly time: number }> {
	const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	return new Map(
		files.map(({ parentPath, name }) => {
			const file = path.join(parentPath, name);
			return [path.relative(directory, file), { bytes: readFileSync(file), time: statSync(file).mtimeMs }];
		}),
	);
}

/** Name and bytes, for comparison, in the order of the names. */
const comparable = (files: Iterable<readonly [string, Uint8Array]>) =>
	[...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString("latin1")]).sort();

const fixtures = await listFixtures();

describe("export", () => {
	it.each(fixtures)("puts all of %s into an archive and does not change it", async (name) => {
		const place = await placeFixture(name);
		onTestFinished(() => place.remove());
		const before = snapshot(place.shareDir);
		const env = { ...createStage().environment, KIMI_SHARE_DIR: place.shareDir };
		const done = await runExecutable(executablePath, ["export", place.id, "-o", "x.zip"], { cwd: place.workDir, env });
		expect(done).toMatchObject({ code: 0, stderr: "" });
		expect(path.basename(done.stdout)).toBe("x.zip\n");

		const { "manifest.json": manifestBytes = new Uint8Array(), ...files } = unzipSync(
			readFileSync(path.join(place.workDir, "x.zip")),
		);
		const originals = [...snapshot(place.directory)].map(([file, { bytes }]) => [file, bytes] as const);
		expect(comparable(Object.entries(files))).toEqual(comparable(originals));
		const manifest = JSON.parse(Buffer.from(manifestBytes).toString());
		expect(manifest).toMatchObject({ format_version: 1, session_id: place.id, work_dir: place.workDir, left_out: [] });
		expect(manifest.files).toHaveLength(originals.length);
		for (const { path: file, size } of manifest.files) expect(files[file]).toHaveLength(size);
		expect(snapshot(place.shareDir)).toEqual(before);
		expect(readdirSync(place.workDir)).toEqual(["x.zip"]);
	});

	it("takes an id with the prefix of kimi-code, as the resume hint has it", async () => {
		const [name = ""] = fixtures;
		const place = await placeFixture(name);
		onTestFinished(() => place.remove());
		const env = { ...createStage().environment, KIMI_SHARE_DIR: place.shareDir };
		for (const words of [["export"], ["sessions", "export"]]) {
			const argv = [...words, `session_${place.id}`, "-y", "-o", `${words.join("-")}.zip`];
			const done = await runExecutable(executablePath, argv, { cwd: place.workDir, env });
			expect(done).toMatchObject({ code: 0, stderr: "" });
			expect(path.basename(done.stdout)).toBe(`${words.join("-")}.zip\n`);
		}
	});

	it("exports the last session of the current directory while a server writes it, and disturbs neither", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"], isFirstStart: true });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi", "first");
		await server.response("first");
		// The second time the program comes from its cache.
		for (const time of ["first", "second"]) {
			const done = await stage.run("export");
			const target = path.join(stage.workDir, "session-s.zip");
			expect([time, done]).toEqual([time, { code: 0, stdout: `${target}\n`, stderr: "" }]);
			const entries = unzipSync(readFileSync(target));
			for (const file of ["context.jsonl", "wire.jsonl", "state.json"]) {
				const bytes = readFileSync(path.join(stage.sessionDir("s"), file));
				expect(Buffer.from(entries[file] ?? []).equals(bytes)).toBe(true);
			}
		}
		server.prompt("more", "second");
		expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("ends with 1 when there is nothing to export, and with 2 when no session is named", async () => {
		const stage = createStage();
		const none = await stage.run("export");
		expect(none).toMatchObject({ code: 1, stdout: "" });
		expect(none.stderr).toContain(`There is no session in ${stage.workDir} yet.`);
		expect(await stage.run("export", "nope")).toMatchObject({ code: 1, stdout: "" });
		expect(await stage.run("export", "--frobnicate")).toMatchObject({ code: 2, stdout: "" });
		expect(await stage.run("export", "../x")).toMatchObject({ code: 2, stdout: "" });
		expect(await stage.run("export", "--help")).toMatchObject({ code: 0, stderr: "" });
		expect(readdirSync(stage.shareDir)).toEqual(["config.toml"]);
		expect(readdirSync(stage.workDir)).toEqual([]);
	});
});
