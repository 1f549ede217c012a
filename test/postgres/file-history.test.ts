// A session in PostgreSQL that changes files under one worker and goes back under another, which has a share directory of its own.
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { connect } from "../../src/client/client.ts";
import { toolCall } from "../support/executable/executable.ts";
import { type ClusterPrograms, createClusterPrograms } from "../support/postgres/cluster-programs.ts";

const url = inject("postgresUrl");

describe.skipIf(url === "")("the file history of a session that another machine continues", { timeout: 60_000 }, () => {
	let programs: ClusterPrograms;
	let elsewhere: string;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
		elsewhere = await mkdtemp(path.join(tmpdir(), "agentwire-elsewhere-"));
	});
	afterEach(async () => {
		await programs.cleanUp();
		await rm(elsewhere, { recursive: true, force: true });
	});

	it("goes back, in a fork too, and is deleted with the session", async () => {
		const { home } = programs;
		const workDir = path.join(home, "work");
		await mkdir(workDir);
		const read = (name: string, directory = workDir) => readFile(path.join(directory, name), "utf8").catch(() => null);
		await writeFile(path.join(workDir, ".env"), "KEY=1\n");
		const shell = (id: string, command: string) => `${toolCall(id, "Shell", { command })}\n`;
		const scripts = [
			shell("c1", "echo KEY=2 > .env; echo one > made"),
			"text: first\n",
			shell("c2", "rm .env; echo two > made"),
			"text: second\n",
		];
		await writeFile(path.join(home, "scripts.json"), JSON.stringify(scripts));
		const first = await programs.start(["worker"]);
		const { gateway } = await programs.connect(await programs.start(["serve", "--port", "0"]));
		const kernel = await connect(gateway);
		const session = await kernel.open({ workDir, model: "scripted", mode: "yolo" });
		const one = (await session.prompt("One")).turnId ?? "";
		const two = (await session.prompt("Two")).turnId ?? "";
		expect([await read(".env"), await read("made")]).toEqual([null, "two\n"]);
		first.child.kill("SIGKILL");
		await once(first.child, "exit");

		await cp(path.join(home, "config.toml"), path.join(elsewhere, "config.toml"));
		await programs.start(["worker"], { KIMI_SHARE_DIR: elsewhere });
		const fork = await kernel.open({ fork: session.id });
		const directory = path.join(elsewhere, "forked");
		const apart = await kernel.open({ fork: session.id, before: two, files: { directory } });
		expect([await read(".env", directory), await read("made", directory)]).toEqual(["KEY=2\n", "one\n"]);
		const done = await session.rewind({ before: one });
		expect([await read(".env"), await read("made")]).toEqual(["KEY=1\n", null]);
		expect(done.files?.left).toEqual([]);
		await session.rewind({ before: done.files?.id ?? "", conversation: false });
		expect([await read(".env"), await read("made")]).toEqual([null, "two\n"]);
		await fork.rewind({ before: two });
		expect([await read(".env"), await read("made")]).toEqual(["KEY=2\n", "one\n"]);
		await apart.rewind({ before: one });
		expect([await read(".env", directory), await read("made", directory)]).toEqual(["KEY=1\n", null]);

		const database = programs.place.openDatabase();
		const rows = async () =>
			(await database.query(`select session_id from ${database.schema}.file_content`)).map((row) => row["session_id"]);
		expect(new Set(await rows())).toEqual(new Set([session.id, fork.id, apart.id]));
		for (const each of [fork, apart, session]) await each.close();
		for (const { id } of [fork, apart, session]) await kernel.delete(id);
		expect(await rows()).toEqual([]);
		await kernel.close();
	});

	it("goes with a copy to the disk of another machine, and back", async () => {
		const { home } = programs;
		const workDir = path.join(home, "work");
		await mkdir(workDir);
		const file = path.join(workDir, "notes");
		const read = () => readFile(file, "utf8");
		await writeFile(file, "mine\n");
		const command = "echo theirs > notes";
		await writeFile(
			path.join(home, "scripts.json"),
			JSON.stringify([`${toolCall("c1", "Shell", { command })}\n`, "text: done\n"]),
		);
		const first = await programs.start(["worker"]);
		const { gateway } = await programs.connect(await programs.start(["serve", "--port", "0"]));
		const kernel = await connect(gateway);
		const session = await kernel.open({ workDir, model: "scripted", mode: "yolo" });
		const turnId = (await session.prompt("One")).turnId ?? "";
		await session.close();
		first.child.kill();
		await once(first.child, "exit");

		await cp(path.join(home, "config.toml"), path.join(elsewhere, "config.toml"));
		const settings = path.join(elsewhere, "config.toml");
		const shared = await readFile(settings, "utf8");
		const copy = async (from: string, to: string) => {
			await writeFile(settings, shared);
			return await programs.run(["store", "copy", "--from", from, "--to", to, "--json"], { KIMI_SHARE_DIR: elsewhere });
		};
		const copied = { code: 0, stdout: expect.stringMatching(/"outcome":"copied".*"history_gap":null/) };
		expect(await copy("postgres", "disk")).toMatchObject(copied);
		await writeFile(settings, shared.replace('type = "postgres"', 'type = "disk"'));
		const local = await connect({
			command: ["node", path.resolve("bin/agentwire")],
			env: { KIMI_SHARE_DIR: elsewhere },
		});
		const there = await local.open({ id: session.id, workDir });
		const { files } = await there.rewind({ before: turnId, conversation: false });
		expect([await read(), files?.left]).toEqual(["mine\n", []]);
		await there.rewind({ before: files?.id ?? "", conversation: false });
		expect(await read()).toBe("theirs\n");
		await there.close();
		await local.close();

		expect(await programs.run(["store", "delete", "--older-than", "0m"])).toMatchObject({ code: 0 });
		expect(await copy("disk", "postgres")).toMatchObject(copied);
		await rm(path.join(home, "scratch"), { recursive: true });
		await programs.start(["worker"]);
		const again = await kernel.open({ id: session.id, workDir });
		const back = await again.rewind({ before: turnId });
		expect([await read(), back.files?.left]).toEqual(["mine\n", []]);
		await kernel.close();
	});

	it("does not keep a session with a damaged history from being copied, and says so", async () => {
		const home = elsewhere;
		const shared = await readFile(path.join(programs.home, "config.toml"), "utf8");
		await writeFile(path.join(home, "config.toml"), shared.replace('type = "postgres"', 'type = "disk"'));
		const local = { KIMI_SHARE_DIR: home, AGENTWIRE_STORE_URL: "" };
		const spoken = await programs.run(["--print", "--session", "s1", "--yolo", "--prompt", "text: hello"], local);
		expect(spoken).toMatchObject({ code: 0 });
		const [directory = ""] = (await readdir(path.join(home, "sessions"), { recursive: true })).filter((each) =>
			each.endsWith("/s1"),
		);
		await mkdir(path.join(home, "sessions", directory, "file-history", "history.jsonl"), { recursive: true });
		await writeFile(path.join(home, "config.toml"), shared);
		const copied = await programs.run(["store", "copy", "--from", "disk", "--to", "postgres"], {
			KIMI_SHARE_DIR: home,
		});
		expect(copied).toMatchObject({
			code: 1,
			stdout: expect.stringMatching(/^s1 {2}copied and compared, \d+ events; its file history is not copied: .*EISDIR/),
		});
	});
});
