import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskFiles } from "./disk-files.ts";
import type { Files } from "./port.ts";
import { privateBelow, privateWithin } from "./private-paths.ts";

let root: string;
let files: Files;
beforeEach(async () => {
	root = await realpath(await mkdtemp(path.join(tmpdir(), "private-")));
	files = createDiskFiles(privateBelow(at("share")));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const at = (...names: string[]) => path.join(root, ...names);
const modeOf = async (...names: string[]) => ((await stat(at(...names))).mode & 0o7777).toString(8);
const usual = (mode: number) => (mode & ~process.umask()).toString(8);

async function* pieces(...texts: string[]) {
	for (const text of texts) yield Buffer.from(text);
}

describe("the contents of a share directory", () => {
	const privacyOf = privateBelow("/s", "/s", "/home/u/.kimi");

	it.each([
		["/s", "created-private"],
		["/home/u/.kimi", "created-private"],
		["/s/sessions", "private"],
		["/s/sessions/a/b/wire.jsonl", "private"],
		["/s/leases/x.json", "private"],
		["/s/logs/agentwire.log.1", "private"],
		["/s/plans/a.md", "private"],
		["/s/plugins/demo/run", "private"],
		["/s/credentials/kimi-code.json", "private"],
		["/s/mcp-oauth/x.json", "private"],
		["/s/config.toml", "private"],
		["/s/config.toml.lock", "private"],
		["/s/config.json.bak", "private"],
		["/s/kimi.json", "private"],
		["/s/kimi.json.damaged-1", "private"],
		["/s/mcp.json", "private"],
		["/home/u/.kimi/plans/x.md", "private"],
		["/s/skills/mine/SKILL.md", "open"],
		["/s/notes/config.toml", "open"],
		["/s/configuration", "open"],
		["/s/sessions-of-mine", "open"],
		["/sessions/a", "open"],
		["/s2/sessions/a", "open"],
		["/home/u", "open"],
	])("%s is %s", (target, privacy) => {
		expect(privacyOf(target)).toBe(privacy);
	});

	it("are private in a whole directory of the program's own", () => {
		const within = privateWithin("/s/tasks/a");
		expect(["/s/tasks/a", "/s/tasks/a/b/c", "/s/tasks/ab", "/s/tasks"].map(within)).toEqual([
			"private",
			"private",
			"open",
			"open",
		]);
	});
});

describe("files that are created in it", () => {
	it("are for the owner only, with the directories above them", async () => {
		await files.makeDirectory(at("share/sessions/h/i"));
		await files.replace(at("share/sessions/h/i/state.json"), "{}");
		await files.replaceByPieces(at("share/sessions/h/i/pieces"), pieces("a", "b"));
		await files.create(at("share/sessions/h/i/lock"), "x");
		const log = await files.openAppend(at("share/sessions/h/i/wire.jsonl"));
		await log.append("line\n");
		await log.close();
		await files.replace(at("share/config.toml"), "", { mode: 0o644 });
		for (const directory of ["share", "share/sessions", "share/sessions/h", "share/sessions/h/i"]) {
			expect(await modeOf(directory), directory).toBe("700");
		}
		for (const name of ["state.json", "pieces", "lock", "wire.jsonl"]) {
			expect(await modeOf("share/sessions/h/i", name), name).toBe("600");
		}
		expect(await modeOf("share/config.toml")).toBe("600");
	});

	it("retain the owner's permissions", async () => {
		await files.makeDirectory(at("share/plugins/demo"));
		await files.replace(at("share/plugins/demo/run"), "#!", { mode: 0o755 });
		expect(await modeOf("share/plugins/demo/run")).toBe("700");
		await files.replace(at("share/plugins/demo/run"), "#!!");
		expect(await modeOf("share/plugins/demo/run")).toBe("700");
	});

	it("follow the umask elsewhere", async () => {
		await files.makeDirectory(at("work/dir"));
		await files.replace(at("work/dir/file"), "x");
		await files.create(at("work/dir/other"), "x");
		await (await files.openAppend(at("work/dir/log"))).close();
		expect(await modeOf("work/dir")).toBe(usual(0o777));
		for (const name of ["file", "other", "log"]) expect(await modeOf("work/dir", name), name).toBe(usual(0o666));
		await chmod(at("work/dir/file"), 0o664);
		await files.replace(at("work/dir/file"), "y");
		expect([await modeOf("work/dir/file"), await modeOf("work/dir")]).toEqual(["664", usual(0o777)]);
	});
});

describe("existing files in it", () => {
	beforeEach(async () => {
		await mkdir(at("share/sessions/h/i"), { recursive: true, mode: 0o755 });
		await writeFile(at("share/sessions/h/i/wire.jsonl"), "1\n", { mode: 0o644 });
	});

	it.each([
		["read", () => files.read(at("share/sessions/h/i/wire.jsonl"))],
		["readRange", () => files.readRange(at("share/sessions/h/i/wire.jsonl"), 0, 1)],
		[
			"readPieces",
			async () => {
				for await (const piece of files.readPieces(at("share/sessions/h/i/wire.jsonl"))) expect(piece.length).toBe(2);
			},
		],
		["openAppend", async () => (await files.openAppend(at("share/sessions/h/i/wire.jsonl"))).close()],
		["replace", () => files.replace(at("share/sessions/h/i/wire.jsonl"), "2\n")],
	])("are closed to others by %s", async (_name, use) => {
		await use();
		expect(await modeOf("share/sessions/h/i/wire.jsonl")).toBe("600");
	});

	it.each([
		["openAppend", async () => (await files.openAppend(at("share/sessions/h/i/wire.jsonl"))).close()],
		["replace", () => files.replace(at("share/sessions/h/i/wire.jsonl"), "2\n")],
		["create", () => files.create(at("share/sessions/h/i/new"), "")],
		["makeDirectory", () => files.makeDirectory(at("share/sessions/h/i"))],
		["makeDirectory of a new one", () => files.makeDirectory(at("share/sessions/h/i/j"))],
	])("have the directories above them closed by %s, except the share directory", async (_name, use) => {
		await use();
		for (const directory of ["share/sessions", "share/sessions/h", "share/sessions/h/i"]) {
			expect(await modeOf(directory), directory).toBe("700");
		}
		expect(await modeOf("share")).toBe("755");
	});

	it("are left unchanged where a link leads elsewhere", async () => {
		await mkdir(at("elsewhere/sub"), { recursive: true, mode: 0o755 });
		await writeFile(at("elsewhere/config.toml"), "a = 1", { mode: 0o644 });
		await symlink(at("elsewhere/config.toml"), at("share/config.toml"));
		await symlink(at("elsewhere/sub"), at("share/plans"));
		expect((await files.read(at("share/config.toml")))?.toString()).toBe("a = 1");
		await files.replace(at("share/config.toml"), "a = 2");
		await (await files.openAppend(at("share/config.toml"))).close();
		await files.replace(at("share/plans/a.md"), "# Plan");
		expect(await readFile(at("elsewhere/config.toml"), "utf8")).toBe("a = 2");
		expect([await modeOf("elsewhere/config.toml"), await modeOf("elsewhere/sub")]).toEqual(["644", "755"]);
		expect(await modeOf("elsewhere/sub/a.md")).toBe("600");
	});

	it("are left unchanged where they belong to the person", async () => {
		await mkdir(at("share/skills/mine"), { recursive: true, mode: 0o755 });
		await writeFile(at("share/skills/mine/SKILL.md"), "# Mine", { mode: 0o644 });
		await files.read(at("share/skills/mine/SKILL.md"));
		await files.replace(at("share/skills/mine/SKILL.md"), "# Ours");
		expect([await modeOf("share/skills/mine/SKILL.md"), await modeOf("share/skills")]).toEqual(["644", "755"]);
	});
});
