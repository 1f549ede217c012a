// The command `store` as the built program, over a real PostgreSQL and a directory of its own.
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { runTurn } from "../../examples/durable/run-turn.mjs";
import { type ClusterPrograms, createClusterPrograms } from "../support/postgres/cluster-programs.ts";

const url = inject("postgresUrl");

describe.skipIf(url === "")("the command store", { timeout: 90_000 }, () => {
	let programs: ClusterPrograms;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
	});
	afterEach(() => programs.cleanUp());

	const run = (...words: readonly string[]) => programs.run(["store", ...words]);
	const rows = (text: string, values: readonly unknown[] = []) => {
		const database = programs.place.openDatabase({ poolSize: 1 });
		return database.query(text.replaceAll("$schema", database.schema), values);
	};
	/** A session with one turn, in the database. */
	const speak = async (id: string, input = "text: hello") => {
		const words = ["--print", "--session", id, "--yolo", "--prompt", input];
		const spoken = await programs.run(words);
		expect(spoken).toMatchObject({ code: 0 });
	};

	it.each([
		["migrate", "--help"],
		["check", "-h"],
		["copy", "--help"],
		["archive", "--help"],
		["delete", "--help"],
	])("%s %s shows what there is", async (action, flag) => {
		const { code, stdout } = await run(action, flag);
		expect(code).toBe(0);
		for (const name of ["migrate", "check", "copy", "archive", "delete"]) expect(stdout).toContain(name);
	});

	it.each([
		["needs one of", []],
		["does not know 'burn'", ["burn"]],
		["does not know '--older-than'", ["migrate", "--older-than", "1d"]],
		["--from disk or --from postgres", ["copy", "--to", "disk"]],
		["two different stores", ["copy", "--from", "disk", "--to", "disk"]],
		["needs --older-than", ["archive"]],
		["is not a number with m, h, d or w", ["delete", "--older-than", "soon"]],
		["--older-than needs a value", ["archive", "--older-than"]],
	])("refuses words with a text: %s", async (text, words) => {
		const { code, stderr, stdout } = await run(...words);
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr).toContain(text);
	});

	it.each([
		["migrate"],
		["check"],
		["copy", "--from", "postgres", "--to", "disk"],
		["archive", "--older-than", "1d"],
		["delete", "--older-than", "1d"],
	])(
		"%s fails with the place and the reason, and without the password, where there is no database",
		async (...words) => {
			const nowhere = "postgresql://agentwire:secret-word@127.0.0.1:1/agentwire";
			const found = await programs.run(["store", ...words], { AGENTWIRE_STORE_URL: nowhere });
			expect(found.code).toBe(1);
			expect(found.stderr).toMatch(/^Error: .*127\.0\.0\.1:1/);
			expect(found.stdout + found.stderr).not.toContain("secret-word");
		},
	);

	it("migrates once, and says so", async () => {
		const first = await run("migrate");
		expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/migrated from version 0 to \d+\.\n$/) });
		const [one, two] = await Promise.all([run("migrate", "--json"), run("migrate")]);
		expect(JSON.parse(one.stdout)).toMatchObject({ from: expect.any(Number), to: expect.any(Number) });
		expect(two).toMatchObject({ code: 0, stdout: expect.stringContaining("already") });
		await rows("insert into $schema.schema_version (version) values (999)");
		expect(await run("migrate")).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("install a newer agentwire"),
		});
	});

	it("checks, and finds what should not be", async () => {
		expect(await run("check")).toMatchObject({ code: 1, stdout: expect.stringContaining("no tables yet") });
		await speak("s1");
		const well = await run("check");
		expect(well).toMatchObject({ code: 0, stdout: expect.stringContaining("No problems.") });
		expect(well.stdout).toContain("Sessions:  1, of which 0 are open and 0 have an interrupted turn");
		const problems = async () => {
			const { code, stdout } = await run("check", "--json");
			expect(code).toBe(1);
			return JSON.parse(stdout).problems.join("\n");
		};
		await rows("update $schema.session set last_seq = last_seq + 1");
		expect(await problems()).toMatch(/The session s1 ends with number \d+, and has \d+ events up to \d+\./);
		await rows("update $schema.session set last_seq = last_seq - 1");
		await rows("update $schema.event set term = term + 5 where seq = 1");
		expect(await problems()).toContain("The session s1 was written by a process that had lost it.");
		await rows("update $schema.event set term = term - 5 where seq = 1");
		await rows(
			"insert into $schema.context_row select 'nobody', agent_id, generation, n, body from $schema.context_row limit 1",
		);
		expect(await problems()).toContain("The table context_row has rows of nobody, which is not a session.");
	});

	it("copies from the database to the disk and back, compares, and copies nothing twice", async () => {
		await speak("s1");
		await speak("s2", "text: other");
		const out = await run("copy", "--from", "postgres", "--to", "disk", "--json");
		const lines = out.stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(out.code).toBe(0);
		expect(lines).toMatchObject([
			{ session: "s1", outcome: "copied", differences: [] },
			{ session: "s2", outcome: "copied", differences: [] },
		]);
		const directories = await readdir(path.join(programs.home, "sessions"), { recursive: true });
		expect(directories.filter((each) => /\/s[12]$/.test(each))).toHaveLength(2);
		const again = await run("copy", "--from", "postgres", "--to", "disk");
		expect(again).toMatchObject({
			code: 1,
			stdout: expect.stringContaining("not copied: the other store has a session"),
		});
		await rows("delete from $schema.event where session_id = 's1'");
		await run("delete", "--older-than", "0m");
		const back = await run("copy", "--from", "disk", "--to", "postgres", "--session", "s2");
		expect(back).toMatchObject({ code: 0, stdout: expect.stringMatching(/^s2 {2}copied and compared, \d+ events\n$/) });
		expect(await run("check")).toMatchObject({ code: 0 });
		const none = await run("copy", "--from", "disk", "--to", "postgres", "--session", "s9");
		expect(none).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("There is no session s9 in the store on disk"),
		});
	});

	it("archives and deletes by age, and leaves alone what a process has open", async () => {
		await programs.start(["worker"]);
		const { gateway, call } = await programs.connect(await programs.start(["serve", "--port", "0"]));
		const { sessionId } = await call("sessions.create", { workDir: programs.home });
		await runTurn(gateway, { sessionId, key: "k", input: "text: hello" });
		await speak("old");
		await speak("young");
		await rows("update $schema.session set updated_at = now() - interval '40 days' where id = any($1)", [
			["old", sessionId],
		]);
		const archived = await run("archive", "--older-than", "30d", "--json");
		expect(JSON.parse(archived.stdout)).toEqual({ archived: ["old"], open: [sessionId], failed: [] });
		// Archived ones alone, and of those only what was archived long enough ago.
		const spared = await run("delete", "--older-than", "1d", "--archived", "--json");
		expect(JSON.parse(spared.stdout)).toEqual({ deleted: [], open: [], failed: [] });
		const deleted = await run("delete", "--older-than", "0m", "--archived");
		expect(deleted).toMatchObject({ code: 0, stdout: "Deleted: 1.\n" });
		await rows("update $schema.session set updated_at = now() - interval '100 days' where id = any($1)", [
			["young", sessionId],
		]);
		const all = await run("delete", "--older-than", "90d");
		expect(all.stdout).toBe(`Deleted: 1. Left alone because they are open: ${sessionId}.\n`);
		const left = await rows("select id from $schema.session");
		expect(left.map(({ id }) => id)).toEqual([sessionId]);
	});
});
