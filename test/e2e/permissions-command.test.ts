// `agentwire permissions` with files that are odd: each is an error that names the file, and no rule is dropped.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, runsOnBun, type Stage } from "../support/executable/executable.ts";

const rule = (decision: string, pattern: string) =>
	`[[permission.rules]]\ndecision = "${decision}"\npattern = "${pattern}"\n`;

const run = (stage: Stage, ...argv: readonly string[]) => stage.run("permissions", ...argv);
const projectFile = (stage: Stage) => path.join(stage.workDir, ".agentwire", "permissions.toml");

function createProject(text: string | null): Stage {
	const stage = createStage();
	mkdirSync(path.dirname(projectFile(stage)));
	mkdirSync(path.join(stage.workDir, ".git"));
	if (text !== null) writeFileSync(projectFile(stage), text);
	return stage;
}

describe("the exit code of permissions", () => {
	it.each([["check"], ["check", "ls", "more"], ["explain"], ["import"], ["chek", "ls"], ["list", "--bogus"], []])(
		"of a wrong command line is no decision (%#)",
		async (...argv) => {
			const { code, stderr } = await run(createStage(), ...argv);
			expect(code).toBe(3);
			expect(stderr).toContain("permissions --help' for help.");
		},
	);

	it("of help is that of a success, and no command line is taken for a wish for help", async () => {
		const stage = createStage();
		for (const words of [["--help"], ["list", "--help"], ["trust", "-h"], ["import", "--help"]]) {
			expect(await run(stage, ...words)).toMatchObject({
				code: 0,
				stderr: "",
				stdout: expect.stringContaining("trust"),
			});
		}
		expect((await run(stage, "check", "--help")).code).toBe(1);
	});

	it("of a wrong flag before the command is no decision", async () => {
		expect((await createStage().run("--model", "m", "permissions", "check", "ls")).code).toBe(3);
		expect((await createStage().run("--unknown", "permissions", "check", "ls")).code).toBe(3);
	});

	it.runIf(existsSync("/dev/full"))("is no decision when it could not be written", async () => {
		const stage = createStage();
		const script = `"$0" permissions check ls > /dev/full`;
		const ends = { cwd: stage.workDir, env: stage.environment };
		expect((await runExecutable("/bin/sh", ["-c", script, executablePath], ends)).code).toBe(3);
	});
});

describe("permissions import", () => {
	const long = JSON.stringify({ permissions: { deny: Array.from({ length: 900_000 }, (_, n) => `Read(/a${n}/**)`) } });

	it.each([
		["", runsOnBun ? "is not JSON: JSON Parse error: " : "is not JSON: Unexpected end of JSON input."],
		["{", runsOnBun ? "is not JSON: JSON Parse error: " : "is not JSON "],
		["null", "has no permissions that can be imported: "],
		["[]", "has no permissions that can be imported: "],
		['{"permissions":{"deny":"Read"}}', "has no permissions that can be imported: permissions.deny: "],
		['{"permissions":{"deny":["Read",1]}}', "has no permissions that can be imported: permissions.deny.1: "],
		[long, "is not read as JSON: it has more than 262144 characters."],
	])("refuses what it cannot use, and adds nothing (%#)", async (text, reason) => {
		const stage = createStage();
		const file = path.join(stage.workDir, "settings.json");
		writeFileSync(file, text);
		const settings = path.join(stage.shareDir, "config.toml");
		const before = readFileSync(settings, "utf8");
		const { code, stdout, stderr } = await run(stage, "import", "settings.json");
		expect([code, stdout]).toEqual([3, ""]);
		expect(stderr).toContain(`Error: ${file} ${reason}`);
		expect(readFileSync(settings, "utf8")).toBe(before);
	});

	it("names what it cannot read, and what it needs", async () => {
		const stage = createStage();
		expect(await run(stage, "import", "none.json")).toEqual({
			code: 3,
			stdout: "",
			stderr: `Error: There is no file ${path.join(stage.workDir, "none.json")}.\n`,
		});
		const { code, stderr } = await run(stage, "import", ".");
		expect([code, stderr]).toEqual([3, expect.stringContaining(`Error: Cannot read ${stage.workDir}: EISDIR`)]);
	});
});

describe("a project's file", () => {
	it("is trusted with what it holds, also where it is a link, and as long as that stays", async () => {
		const stage = createProject(null);
		const [one, other] = ["one.toml", "other.toml"].map((name) => path.join(stage.shareDir, name));
		for (const file of [one, other]) writeFileSync(String(file), rule("allow", "Shell(make)"));
		const check = async () => (await run(stage, "check", "make")).code;
		symlinkSync(String(one), projectFile(stage));
		expect(await check()).toBe(1);
		expect((await run(stage, "trust")).code).toBe(0);
		expect(await check()).toBe(0);
		writeFileSync(String(one), `${rule("allow", "Shell(make)")}# more\n`);
		expect(await check()).toBe(1);
		expect((await run(stage, "trust")).code).toBe(0);
		rmSync(projectFile(stage));
		symlinkSync(String(other), projectFile(stage));
		expect(await check()).toBe(1);
		writeFileSync(path.join(stage.shareDir, "trusted-permissions.json"), "{");
		expect(await check()).toBe(1);
		expect(await run(stage, "trust")).toMatchObject({ code: 3, stderr: expect.stringContaining("Cannot use ") });
	});

	it("that is a link is trusted in one project only, and speaks of the paths of that project", async () => {
		const stage = createProject(`${rule("allow", "Shell(make)")}${rule("deny", "Write(out/**)")}`);
		expect((await run(stage, "trust")).code).toBe(0);
		const other = createProject(null);
		symlinkSync(projectFile(stage), projectFile(other));
		const list = "trusted-permissions.json";
		copyFileSync(path.join(stage.shareDir, list), path.join(other.shareDir, list));
		expect((await run(stage, "check", "make")).code).toBe(0);
		expect((await run(other, "check", "make")).code).toBe(1);
		expect((await run(other, "check", "make > out/a")).code).toBe(2);
	});

	it.each([
		["that is a directory", null, "EISDIR"],
		["of 10 MB", `# ${"x".repeat(10_000_000)}\n${rule("deny", "Shell(make)")}`, "it has more than 262144 characters"],
		["of other bytes", "\u0000\u0001", "not TOML at line 1, column 1"],
		["with a misspelled table", rule("deny", "Shell(make)").replace("rules", "rule"), "permission.rule: is not a key"],
		[
			"with another table",
			rule("deny", "Shell(make)").replace("permission", "permissions"),
			"permissions: is not a key",
		],
		["with a misspelled decision", rule("Deny", "Shell(make)"), 'permission.rules[0].decision: must be one of "allow"'],
		["with an unsound pattern", `\n${rule("deny", "Shell(m*)")}`, "permission.rules[0].pattern: line 2:"],
	])(
		"%s is an error of the commands, of Kimi Wire, of print mode and of a session of Meerkat RPC",
		async (_name, text, reason) => {
			const stage = createProject(text);
			if (text === null) mkdirSync(projectFile(stage));
			const failures = await Promise.all([
				run(stage, "check", "make"),
				run(stage, "explain", "make"),
				run(stage, "list"),
				run(stage, "trust"),
				stage.run("--wire"),
				stage.run("--print", "-p", "go"),
			]);
			for (const { code, stderr } of failures) {
				expect([code === 0, stderr]).toEqual([false, expect.stringContaining(projectFile(stage))]);
				expect(stderr).toContain(reason);
			}
			const server = stage.serve("rpc");
			server.request("c", "session/create", { prompt: "go" });
			const { error } = await server.response("c");
			expect(error?.message).toContain(projectFile(stage));
			expect(error?.message).toContain(reason);
			server.request("d", "session/create", { prompt: "go" });
			expect((await server.response("d")).error).toBeDefined();
			server.endInput();
			expect(await server.exited).toBe(0);
		},
	);
});
