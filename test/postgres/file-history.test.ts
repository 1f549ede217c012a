// A session in PostgreSQL that changes files under one worker and goes back under another, which has a share directory of its own.
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
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
});
