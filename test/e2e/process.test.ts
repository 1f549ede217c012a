// How the process starts as a client sees it: what it prints, what it refuses and which files it then leaves.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, runsOnBun, type Stage } from "../support/executable/executable.ts";

describe("commands that print", () => {
	it("prints its versions as one JSON object, with nothing on stderr", async () => {
		const { code, stdout, stderr } = await createStage().run("info", "--json");
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout).toMatch(/^\{[^\n]*\}\n$/);
		expect(JSON.parse(stdout)).toEqual({
			kimi_cli_version: "1.49.0",
			agent_spec_versions: ["1"],
			wire_protocol_version: "1.10",
			python_version: expect.any(String),
			server_name: "agentwire",
			server_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
			worker_protocol_version: expect.any(Number),
			runtime: expect.stringMatching(/^(?:node|bun)$/),
			runtime_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
		});
	});

	it("prints its own version and the one it is compatible with", async () => {
		expect(await createStage().run("--version")).toEqual({
			code: 0,
			stdout: expect.stringMatching(/^agentwire, version \d+\.\d+\.\d+\S* \(compatible with kimi 1\.49\.0\)\n$/),
			stderr: "",
		});
	});

	it("shows its flags", async () => {
		const { code, stdout, stderr } = await createStage().run("--help");
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout).toContain("--work-dir");
	});

	it("prints without making a share directory's files", async () => {
		const stage = createStage();
		const shareDir = path.join(stage.shareDir, "none");
		const env = { ...stage.environment, KIMI_SHARE_DIR: shareDir };
		for (const argv of [["info", "--json"], ["--version"], ["--help"]])
			await runExecutable(executablePath, argv, { env });
		expect(existsSync(shareDir)).toBe(false);
	});
});

describe("command lines that cannot be followed", () => {
	const cases: readonly (readonly [argv: readonly string[], said: RegExp])[] = [
		[["--print", "--wire"], /Cannot combine --print and --wire/],
		[["--acp", "--wire"], /Cannot combine --acp and --wire/],
		[["--agent", "default", "--agent-file", "a.yaml"], /Cannot combine --agent and --agent-file/],
		[["--wire", "--continue", "--session", "s"], /Cannot combine --continue and --session/],
		[["--wire", "--config", "{}", "--config-file", "c.toml"], /Cannot combine --config and --config-file/],
		[["--quiet", "--wire"], /Cannot combine --quiet and --wire/],
		[["--quiet", "--output-format", "stream-json"], /--quiet/],
		[["--wire", "--input-format", "text"], /--input-format/],
		[["--wire", "--final-message-only"], /--final-message-only/],
		[["--wire", "--session"], /--session/],
		[["--wire", "--session", " "], /--session/],
		[["--wire", "--prompt", ""], /--prompt/],
		[["--wire", "--config", ""], /--config/],
		[["--wire", "--config", "{ not a setting"], /--config/],
		[["--wire", "--config", '{"default_model":"none"}'], /--config.*default_model: names "none"/s],
		[["--wire", "--config", '{"loop_control":{"max_steps_per_turn":0}}'], /loop_control\.max_steps_per_turn: /],
		[["--wire", "--work-dir", "/no/such/directory"], /--work-dir.*\/no\/such\/directory/s],
		[["--wire", "--config-file", "/no/such/file"], /--config-file.*\/no\/such\/file/s],
		[["--wire", "--max-steps-per-turn", "0"], /--max-steps-per-turn/],
		[["--wire", "--mcp-config", "{"], /--mcp-config/],
		[["--wire", "--unheard-of"], /--unheard-of/],
		[["--continue", "--wire"], /--continue/],
		[["unheard-of"], /unheard-of/],
	];
	it.each(cases)("%j is refused with 2", async (argv, said) => {
		const stage = createStage();
		const { code, stdout, stderr } = await stage.run(...argv);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(stderr).toMatch(said);
		expect(stage.sessionIds()).toEqual([]);
	});
});

// Bun refuses to start there, before it looks at the program.
describe.skipIf(runsOnBun)("a current directory that is gone", () => {
	const runIn = async (stage: Stage, ...argv: string[]) => {
		const script = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" "$@"';
		return await runExecutable("/bin/sh", ["-c", script, executablePath, ...argv], {
			cwd: stage.workDir,
			env: stage.environment,
		});
	};

	it("does not matter when another one is named", async () => {
		const stage = createStage();
		expect(await runIn(stage, "--wire", "--work-dir", stage.workDir)).toEqual({ code: 0, stdout: "", stderr: "" });
	});

	it("is named when it is needed", async () => {
		const { code, stdout, stderr } = await runIn(createStage(), "--wire");
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(stderr).toMatch(/--work-dir: there is no directory .*\/gone\n/);
	});
});

describe("settings that cannot be used", () => {
	const cases: readonly (readonly [name: string, text: string, said: RegExp])[] = [
		["no TOML", "default_model =", /Invalid TOML in configuration file .*config\.toml/],
		[
			"a wrong value",
			"[loop_control]\nmax_steps_per_turn = 0\n",
			/config\.toml.*loop_control\.max_steps_per_turn: \S/s,
		],
		["a missing key", '[models.m]\nmodel = "x"\n', /config\.toml.*models\.m\.provider: is required/s],
		[
			"a model without provider",
			'[models.m]\nprovider = "q"\nmodel = "x"\nmax_context_size = 1\n',
			/models\.m\.provider: names "q"/,
		],
	];
	it.each(cases)("%s in config.toml ends the start with 1", async (_name, text, said) => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), text);
		const { code, stdout, stderr } = await stage.run("--wire");
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toMatch(said);
	});

	it("no JSON in a .json file ends the start with 1", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.workDir, "settings.json"), "{");
		const { code, stdout, stderr } = await stage.run("--wire", "--config-file", "settings.json");
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toMatch(/Invalid JSON in configuration file .*settings\.json/);
	});

	it("a script file that is missing ends the start with 1", async () => {
		const stage = createStage();
		const config = stage.configText.replace("scripts.json", "none.json");
		const { code, stdout, stderr } = await stage.run("--wire", "--config", config);
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toContain("none.json");
	});

	it("a secret in them is not repeated", async () => {
		const stage = createStage();
		const config = JSON.stringify({ providers: { p: { type: "kimi", base_url: 5, api_key: "sk-secret-1234567890" } } });
		const { code, stderr } = await stage.run("--wire", "--config", config);
		expect(code).toBe(2);
		expect(stderr).not.toContain("secret");
	});
});

describe("a secret of the wrong type", () => {
	it("is named by its key and its type, in the file that holds it", async () => {
		const stage = createStage();
		const file = path.join(stage.shareDir, "config.toml");
		writeFileSync(
			file,
			'[providers.p]\ntype = "kimi"\nbase_url = ""\napi_key = 1234567890\ncustom_headers = {Authorization = 4711}\n',
		);
		expect(await stage.run("--wire")).toMatchObject({
			code: 1,
			stderr: `Invalid configuration file ${file}:
  providers.p.api_key: must be a string, found a number
  providers.p.custom_headers.Authorization: must be a string, found a number
`,
		});
	});
});

describe("starting to serve", () => {
	it("serves without a mode flag when there is no terminal", async () => {
		const server = createStage().serve();
		server.initialize();
		expect(await server.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("serves without any settings, and says at the prompt that there is no model", async () => {
		const stage = createStage();
		rmSync(path.join(stage.shareDir, "config.toml"));
		const server = stage.serve("--wire", "--no-thinking");
		server.initialize();
		expect(await server.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ error: { code: -32001, message: "LLM is not set" } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("names a model that is not there in its log, and not in the error", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--model", "k-none");
		server.prompt("hi");
		expect((await server.response("prompt")).error).toEqual({ code: -32001, message: "LLM is not set", data: null });
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(readFileSync(path.join(stage.shareDir, "logs", "agentwire.log"), "utf8")).toContain("k-none");
	});

	it("starts on a share directory it cannot write to, and says so at the prompt", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.workDir, "file"), "");
		const shareDir = path.join(stage.workDir, "file", "share");
		const server = stage.serveWith({ KIMI_SHARE_DIR: shareDir }, "--wire", "--config", stage.configText);
		server.initialize();
		expect(await server.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		server.prompt("hi");
		const answer = await server.response("prompt");
		expect(answer.error?.code).toBe(-32603);
		expect(answer.error?.message).toContain(shareDir);
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("ends with 0 on /dev/null and leaves nothing of the session", async () => {
		const stage = createStage();
		const child = spawn(executablePath, ["--wire"], {
			cwd: stage.workDir,
			env: stage.environment,
			stdio: ["ignore", "ignore", "ignore"],
		});
		expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
		expect(stage.sessionIds()).toEqual([]);
	});

	it("leaves nothing of a session that was not used", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "unused");
		server.initialize();
		await server.response("initialize");
		server.endInput();
		expect(await server.readAll()).toEqual([]);
		expect(await server.exited).toBe(0);
		expect(stage.sessionIds()).toEqual([]);
		expect(stage.lastSessionId()).toBeNull();
		expect(server.stderr).toBe("");
	});
});

describe("commands whose output nobody gets", () => {
	const commands = [
		"--help",
		"--version",
		"info --json",
		"info --show-completion bash",
		"mcp list",
		"mcp test none",
		"docs scale",
		"sessions list",
	];

	it.runIf(existsSync("/dev/full")).each([...commands, "plugin list"])("report it: %s", async (command) => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "mcp.json"), '{"mcpServers":{"none":{"command":"false"}}}');
		const script = `"$0" ${command} > /dev/full`;
		const { code, stderr } = await runExecutable("/bin/sh", ["-c", script, executablePath], {
			cwd: stage.workDir,
			env: stage.environment,
		});
		expect(code).toBe(1);
		expect(stderr).toMatch(/stdout: ENOSPC: no space left on device/);
		expect(stderr).not.toMatch(/^ +at /m);
	});

	it.runIf(existsSync("/dev/full")).each(["serve --port 0 --json", "serve --port 0", "web --port 0 --no-open"])(
		"end when nobody gets the line that they serve: %s",
		async (command) => {
			const stage = createStage();
			const { code, stdout, stderr } = await runExecutable(
				"/bin/sh",
				["-c", `"$0" ${command} > /dev/full`, executablePath],
				{
					cwd: stage.workDir,
					env: stage.environment,
				},
			);
			expect([code, stdout]).toEqual([1, ""]);
			expect(stderr).toMatch(
				/^Cannot write the server's address to stdout: ENOSPC: .*\. Start the program again .*\n$/,
			);
		},
	);

	it.each(commands)("end without a stack trace when the reader has gone: %s", async (command) => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "mcp.json"), '{"mcpServers":{"none":{"command":"false"}}}');
		const script = `("$0" ${command}; echo "code $?" >&2) | true`;
		const { stderr } = await runExecutable("/bin/sh", ["-c", script, executablePath], {
			cwd: stage.workDir,
			env: stage.environment,
		});
		expect(stderr).toMatch(/code (0|1)\n/);
		expect(stderr).not.toMatch(/EPIPE|^ +at /m);
	});
});

describe("a worker of a background command", () => {
	it("says that there is nothing to run", async () => {
		const { code, stderr } = await createStage().run("__background-task-worker", "--task-dir", "/no/such");
		expect(code).toBe(1);
		expect(stderr).toBe("Error: there is no task to run in /no/such; the log has the details.\n");
	});
});
