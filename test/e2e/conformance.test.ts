// The command `conformance` against this program, and against one that says nothing right.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { executablePath } from "../support/executable/executable.ts";

let place = "";
beforeAll(async () => {
	place = await mkdtemp(path.join(tmpdir(), "agentwire-e2e-conformance-"));
});
afterAll(() => rm(place, { recursive: true }));

function run(...flags: string[]): Promise<{ code: number; output: string; complaints: string }> {
	return new Promise((resolve) => {
		execFile(executablePath, ["conformance", ...flags], (error, output, complaints) => {
			resolve({ code: error === null ? 0 : Number(error.code), output, complaints });
		});
	});
}

const own = (flags: string) => ["--command", `${executablePath} ${flags}`];
const wire = ["--dialect", "wire", "--only", "kimi/plain-text"];

describe("agentwire conformance", () => {
	it.each([
		["wire", "--wire --session {session}", "kimi/resume-and-replay"],
		["legacy", "--wire", "legacy/approve"],
		["meerkat", "rpc", "meerkat/approval-rejected"],
		["acp", "acp", "acp/permission-two"],
		["claude", "claude", "claude/permission-allow"],
		["codex", "codex app-server", "codex/accept"],
		["codex-exec", "codex exec", "codex-exec/resume"],
		["gateway", "serve --stdio", "gateway/approve"],
	])("passes what speaks %s", async (dialect, flags, only) => {
		const { code, output } = await run("--dialect", dialect, "--only", only, "--json", ...own(flags));
		expect(JSON.parse(output)).toMatchObject({ dialect, counts: { failed: 0 }, stale: [] });
		expect(output).toContain(`"name":"${only}"`);
		expect(code).toBe(0);
	});

	it("names the first difference, in every report", async () => {
		const junit = path.join(place, "report.xml");
		const answer = `read line; echo '{"jsonrpc":"2.0","id":"initialize","result":{}}'; echo '{"jsonrpc":"2.0","id":"p","error":{}}'; echo no >&2`;
		const { code, output } = await run(...wire, "--command", answer, "--junit", junit);
		expect(code).toBe(1);
		expect(output).toMatch(
			/^failed +core {2}kimi\/plain-text .*\n {2}line \d+: expected TurnBegin, not an error\n {2}expected: /,
		);
		expect(output).toContain("\n1 failed\n");
		expect(await readFile(junit, "utf8")).toMatch(
			/failures="1">\n<testcase .*<failure message="line \d+: expected TurnBegin/,
		);
	});

	it("compares the end of a process for each turn", async () => {
		const events = [
			'{"type":"thread.started","thread_id":"t"}',
			'{"type":"turn.started"}',
			'{"type":"turn.failed","error":{"message":"no"}}',
		];
		const exec = ["--dialect", "codex-exec", "--only", "codex-exec/model-failed", "--command"];
		const ending = (then: string) =>
			run(...exec, `printf '%s\\n' ${events.map((event) => `'${event}'`).join(" ")}; ${then} #`);
		expect(await ending("exit 3")).toMatchObject({ code: 0 });
		const done = await ending("exit 0");
		expect([done.code, done.output]).toEqual([
			1,
			expect.stringContaining("expected: exit nonzero\n  received: exit 0\n"),
		]);
		const more = await ending("echo more; exit 3");
		expect([more.code, more.output]).toEqual([1, expect.stringContaining("expected: the end\n  received: more\n")]);
	});

	it("fails for expected failures that are none", async () => {
		const file = path.join(place, "expected.txt");
		await writeFile(file, "kimi/plain-text # known\n");
		const failing = await run(...wire, "--expected-failures", file, "--command", "true");
		expect([failing.code, failing.output]).toEqual([0, expect.stringContaining("1 expected failure")]);
		const passing = await run(...wire, "--expected-failures", file, ...own("--wire"));
		expect([passing.code, passing.output]).toEqual([1, expect.stringContaining("1 unexpected pass")]);
		await writeFile(file, "kimi/gone\n");
		const stale = await run(...wire, "--expected-failures", file, ...own("--wire"));
		expect([stale.code, stale.output]).toEqual([1, expect.stringContaining("names kimi/gone, which was not run")]);
	});

	it("skips what resumes a session without a way to name it", async () => {
		const { code, output } = await run("--dialect", "wire", "--only", "resume-and", ...own("--wire"));
		expect([code, output]).toEqual([0, expect.stringContaining("the command has no {session}")]);
	});

	it.each([
		[["--dialect", "ahp", "--command", "x"], 2, "'ahp' is not one of wire, legacy"],
		[
			["--dialect", "wire"],
			2,
			"needs --dialect (wire, legacy, meerkat, acp, claude, codex, codex-exec, gateway) and --command",
		],
		[["--dialect", "wire", "--command", "x", "--suite", "all"], 2, "'all' is not one of core, approvals"],
		[["--dialect", "wire", "--command", "x", "--only", "none"], 1, "no scenario's name contains 'none'"],
	])("refuses %j", async (flags, exit, message) => {
		const { code, complaints } = await run(...flags);
		expect([code, complaints]).toEqual([exit, expect.stringContaining(message)]);
	});
});
