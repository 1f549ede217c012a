// What a person meets who starts the program by hand. The terminal is either made believe inside the process, which
// needs nothing but Node, or a real one of `script`, where that is there.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
	createStage,
	executablePath,
	preloading,
	runExecutable,
	type Stage,
} from "../support/executable/executable.ts";
import { hasTerminal, onTerminal } from "../support/executable/terminal.ts";

/** Runs a shell script in the work dir whose programs believe that stdin and stderr are a terminal. */
function atTerminal(stage: Stage, script: string) {
	const preload = path.join(stage.shareDir, "terminal.cjs");
	writeFileSync(
		preload,
		`process.stdin.isTTY = true; require("node:tty").isatty = () => true;
const files = require("node:fs");
const { fstatSync } = files;
files.fstatSync = (descriptor) => Object.assign(fstatSync(descriptor), descriptor === 0 ? { isCharacterDevice: () => true } : {});`,
	);
	const env = {
		...stage.environment,
		agentwire: executablePath,
		TERM: "dumb",
		...preloading(preload),
	};
	return runExecutable("/bin/sh", ["-c", script], { cwd: stage.workDir, env });
}

describe("on a terminal", () => {
	it("kimi-agent serves Kimi Wire", async () => {
		const stage = createStage();
		symlinkSync(executablePath, path.join(stage.workDir, "kimi-agent"));
		const request = JSON.stringify({
			jsonrpc: "2.0",
			id: "1",
			method: "initialize",
			params: { protocol_version: "1.10" },
		});
		const { code, stdout } = await atTerminal(stage, `echo '${request}' | ./kimi-agent`);
		expect(code).toBe(0);
		expect(JSON.parse(stdout)).toMatchObject({ id: "1", result: { protocol_version: "1.10" } });
	});

	it.each(["agentwire", "kimi"])("%s without arguments says how to start", async (name) => {
		const stage = createStage();
		symlinkSync(executablePath, path.join(stage.workDir, name));
		for (const flags of ["", "--yolo", "--session s"]) {
			const { code, stdout, stderr } = await atTerminal(stage, `./${name} ${flags}`);
			expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
			expect(stdout).toContain(`${name} setup `);
			expect(stdout.trimEnd().split("\n")).toHaveLength(3);
		}
		expect(stage.sessionIds()).toEqual([]);
	});

	it("print mode without a prompt says how to give it one, and 2", async () => {
		const { code, stderr } = await atTerminal(createStage(), '"$agentwire" --print');
		expect(code).toBe(2);
		expect(stderr).toMatch(/--prompt.*stdin/);
	});

	it("-S lists the sessions of the work directory, and how to open one", async () => {
		const stage = createStage();
		await stage.run("-p", "Mend the tests", "--session", "first");
		await stage.run("-p", "Read on", "--session", "second");
		const { code, stdout, stderr } = await atTerminal(stage, '"$agentwire" -S');
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout).toContain(`Sessions of ${stage.workDir}, the last used first:\n`);
		expect(stdout).toContain("  1  second  Read on\n  2  first  Mend the tests\n");
		expect(stdout).toContain("agentwire -S ID -p TEXT");
	});

	it("-S with a prompt asks for the session, and continues the one chosen", async () => {
		const stage = createStage();
		await stage.run("-p", "one", "--session", "first");
		await stage.run("-p", "two", "--session", "second");
		const chosen = await atTerminal(stage, `printf '7\\n2\\n' | "$agentwire" -p three -S`);
		expect(chosen).toMatchObject({ code: 0, stdout: "done\n" });
		expect(chosen.stderr).toContain("  2  first  one\n");
		expect(chosen.stderr).toContain('"7" is not in the list.\n');
		expect(chosen.stderr).toMatch(/agentwire -r first\n$/);
		expect(readFileSync(path.join(stage.sessionDir("first"), "wire.jsonl"), "utf8")).toContain('"three"');

		const none = await atTerminal(stage, '"$agentwire" -p four -S < /dev/null');
		expect(none).toMatchObject({ code: 1, stdout: "" });
		expect(none.stderr).toMatch(/No session was chosen; nothing was done\.\n$/);
		expect(stage.sessionIds().sort()).toEqual(["first", "second"]);
	});

	it("-S where there is none says so, and 2", async () => {
		const stage = createStage();
		for (const flags of ["-S", "-S -p hi"]) {
			const { code, stdout, stderr } = await atTerminal(stage, `"$agentwire" ${flags}`);
			expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
			expect(stderr).toContain(`-S: there is no earlier session in ${stage.workDir}.`);
		}
	});

	it.runIf(hasTerminal)("the same holds with the terminal of script", async () => {
		const stage = createStage();
		const env = { ...stage.environment, agentwire: executablePath, TERM: "dumb" };
		const run = (command: string) => runExecutable("/bin/sh", ["-c", onTerminal(command)], { cwd: stage.workDir, env });
		const bare = await run('"$agentwire"');
		expect(bare.code).toBe(0);
		expect(bare.stdout).toContain("agentwire setup ");
		expect(await run('"$agentwire" -p hi --session s')).toMatchObject({
			code: 0,
			stdout: "done\r\n\r\nTo resume this session: agentwire -r s\r\n",
		});
		expect((await run('"$agentwire" -S')).stdout).toContain("  1  s  hi\r\n");
	});
});

describe("elsewhere", () => {
	it.each(["-S", "--session", "-p hi -S", "--print --resume"])("%s fails with a hint, and 2", async (flags) => {
		const stage = createStage();
		const { code, stdout, stderr } = await stage.run(...flags.split(" "));
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(stderr).toMatch(/needs the id of a session\. On a terminal .*--continue/);
		expect(stage.sessionIds()).toEqual([]);
	});

	it.each(["agentwire", "kimi", "kimi-agent"])("%s with a prompt alone answers it", async (name) => {
		const stage = createStage();
		const executable = path.join(stage.workDir, name);
		symlinkSync(executablePath, executable);
		const options = { cwd: stage.workDir, env: stage.environment };
		expect(await runExecutable(executable, ["-p", "hi"], options)).toMatchObject({ code: 0, stdout: "done\n" });
		expect(await runExecutable(executable, ["-c", "hi", "--output-format", "stream-json"], options)).toMatchObject({
			code: 0,
			stdout: expect.stringMatching(
				/^\{"role":"meta","type":"system.version".*\n\{"role":"assistant","content":"done"\}\n\{"role":"meta","type":"turn.result","status":"finished"/,
			),
		});
	});

	it("ends without output and with 0 when stdin is at its end", async () => {
		expect(await createStage().run()).toEqual({ code: 0, stdout: "", stderr: "" });
	});
});
