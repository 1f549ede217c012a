// The program under other names: a link called `kimi` or `kimi-agent` replaces those programs.
import { symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage } from "../support/executable/executable.ts";
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
