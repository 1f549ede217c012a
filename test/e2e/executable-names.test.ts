// The program under other names: a link called `kimi` or `kimi-agent` replaces those programs.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, runsOnBun, type Stage } from "../support/executable/executable.ts";
import { isResponse, outline } from "../support/executable/running-server.ts";

const names = ["kimi", "kimi-agent"];

/** A link to the executable in a directory of its own. */
function link(stage: Stage, name: string): string {
	const target = path.join(stage.workDir, name);
	symlinkSync(executablePath, target);
	return target;
}

describe.each(names.map((name) => [name]))("a link called %s", (name) => {
	it("prints the version that clients check", async () => {
		const stage = createStage();
		const env = stage.environment;
		const kimi = link(stage, name);
		expect(await runExecutable(kimi, ["--version"], { env })).toEqual({
			code: 0,
			stdout: `${name}, version 1.49.0\n`,
			stderr: "",
		});
		const { stdout } = await runExecutable(kimi, ["info", "--json"], { env });
		expect(JSON.parse(stdout)).toMatchObject({ kimi_cli_version: "1.49.0", server_name: "agentwire" });
	});

	it.each([[[]], [["--wire"]], [["--yolo", "--session", "s"]]])("serves Kimi Wire with %j", async (flags: string[]) => {
		const stage = createStage();
		const server = stage.serveAs(link(stage, name), ...flags);
		server.initialize();
		expect(await server.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		server.prompt("hi");
		const lines = await server.readUntil((line) => isResponse(line, "prompt"));
		expect(outline(lines)).toEqual(["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd", "finished"]);
		server.endInput();
		expect(await server.exited).toBe(0);
		if (flags.includes("--session")) expect(server.stderr).toContain(`${name} -r s`);
	});

	it("does what another mode flag says", async () => {
		const stage = createStage();
		const argv = ["--quiet", "-p", "hi"];
		const options = { cwd: stage.workDir, env: stage.environment };
		expect(await runExecutable(link(stage, name), argv, options)).toMatchObject({ code: 0, stdout: "done\n" });
	});

	it("is found on the path", async () => {
		const stage = createStage();
		link(stage, name);
		const env = { ...stage.environment, PATH: `${stage.workDir}:${process.env["PATH"] ?? ""}` };
		expect(await runExecutable(name, ["--version"], { env })).toMatchObject({ stdout: `${name}, version 1.49.0\n` });
	});
});

describe("the file bin/kimi-agent", () => {
	const file = path.join(path.dirname(executablePath), "kimi-agent");
	const move = (stage: Stage): string => {
		const moved = path.join(stage.workDir, "kimi-agent");
		copyFileSync(file, moved);
		return moved;
	};

	it("works in another directory, with agentwire on the path", async () => {
		const stage = createStage();
		const bin = path.join(stage.workDir, "bin");
		mkdirSync(bin);
		symlinkSync(executablePath, path.join(bin, "agentwire"));
		const env = { ...stage.environment, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
		expect(await runExecutable(move(stage), ["--version"], { env })).toEqual({
			code: 0,
			stdout: "kimi-agent, version 1.49.0\n",
			stderr: "",
		});
	});

	// One file has its package in it.
	it.skipIf(runsOnBun)("says what it needs where there is no package", async () => {
		const stage = createStage();
		const node = path.join(stage.workDir, "node");
		// Written by another process: a child that starts meanwhile would inherit the open file, which then cannot be run.
		execFileSync("cp", [process.execPath, node]);
		const { code, stderr } = await runExecutable(node, [move(stage), "--version"], {
			env: { ...stage.environment, PATH: "" },
		});
		expect(code).toBe(1);
		expect(stderr).toMatch(/^kimi-agent: the package agentwire was not found\. .*npm install --global agentwire/);
	});
});

describe.each([
	["rkat", ["rpc"]],
	["rkat-rpc", []],
])("a link called %s", (name, argv) => {
	it(`with ${JSON.stringify(argv)} serves Meerkat RPC`, async () => {
		const stage = createStage();
		const server = stage.serveAs(link(stage, name), ...argv);
		server.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`);
		const [line] = await server.readUntil((each) => "result" in each);
		expect(line).toMatchObject({ id: 1, result: { contract_version: expect.stringMatching(/^0\.9\./) } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});
});
