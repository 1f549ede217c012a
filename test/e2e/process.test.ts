// The process as a client meets it: how it starts, what it refuses, how it ends and what it leaves behind.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
	createStage,
	executablePath,
	isResponse,
	lastOf,
	outline,
	runExecutable,
	type Server,
	type Stage,
	toolCall,
} from "../support/executable.ts";

const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
/** More than fits between the server and a client that does not read. */
const longScript = Array.from({ length: 20_000 }, (_, n) => `text: part ${n} of a long answer`).join("\n");

describe("commands that print", () => {
	it("tells its versions as one object of JSON, with nothing on stderr", async () => {
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
		});
	});

	it("calls itself what it is called", async () => {
		const stage = createStage();
		const kimi = path.join(stage.workDir, "kimi");
		symlinkSync(executablePath, kimi);
		expect(await stage.run("--version")).toEqual({
			code: 0,
			stdout: expect.stringMatching(/^agentwire, version \d+\.\d+\.\d+\S* \(compatible with kimi 1\.49\.0\)\n$/),
			stderr: "",
		});
		expect(await runExecutable(kimi, ["--version"], { env: stage.environment })).toEqual({
			code: 0,
			stdout: "kimi, version 1.49.0\n",
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

describe("lines", () => {
	it("takes a last line without newline", async () => {
		const server = createStage().serve("--wire");
		server.write('{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocol_version":"1.10"}}');
		server.endInput();
		expect(await server.readAll()).toEqual([expect.objectContaining({ id: "i", result: expect.anything() })]);
		expect(await server.exited).toBe(0);
	});

	it("answers everything that was sent ahead of the end of input", async () => {
		const server = createStage({ scripts: [`text: a\n${shellCall("sleep 1000")}`] }).serve("--wire", "--yolo");
		server.initialize();
		server.prompt("hi");
		server.request("cancel-nothing", "unheard-of");
		server.endInput();
		const lines = await server.readAll();
		expect(await server.exited).toBe(0);
		expect(outline(lines.filter(({ id }) => id !== undefined)).toSorted()).toEqual(["-32601", "cancelled", "result"]);
		const events = outline(lines.filter(({ method }) => method === "event"));
		expect([events[0], events.at(-1)]).toEqual(["TurnBegin", "TurnEnd"]);
		expect(lines.at(-1)).toEqual({ jsonrpc: "2.0", id: "prompt", result: { status: "cancelled" } });
	});

	it("takes a line of 3 MB", async () => {
		const server = createStage().serve("--wire");
		const text = "ü".repeat(1_500_000);
		server.prompt(text);
		expect((await server.message("TurnBegin")).params?.payload).toEqual({ user_input: text });
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	});

	it("puts characters together that arrive in pieces", async () => {
		const server = createStage().serve("--wire");
		const prompt = { jsonrpc: "2.0", id: "prompt", method: "prompt", params: { user_input: "€𝄞" } };
		const initialize = { jsonrpc: "2.0", id: "i", method: "initialize", params: { protocol_version: "1.10" } };
		const bytes = Buffer.from(`${JSON.stringify(prompt)}\n`);
		const inside = bytes.indexOf(0xe2) + 1;
		server.write(Buffer.concat([Buffer.from(`${JSON.stringify(initialize)}\n`), bytes.subarray(0, inside)]));
		// The answer shows that the first piece was read.
		await server.response("i");
		server.write(bytes.subarray(inside));
		expect((await server.message("TurnBegin")).params?.payload).toEqual({ user_input: "€𝄞" });
	});
});

type Ending = readonly [name: string, end: (server: Server) => void];
const endings: readonly Ending[] = [
	["the end of input", (server) => server.endInput()],
	["SIGINT", (server) => server.kill("SIGINT")],
	["SIGTERM", (server) => server.kill("SIGTERM")],
];

describe.each(endings)("%s", (_name, end) => {
	/** Ends the server, reads what it still says and checks code and time. */
	async function endAndRead(server: Server) {
		const before = performance.now();
		end(server);
		const lines = await server.readAll();
		expect(await server.exited).toBe(0);
		expect(performance.now() - before).toBeLessThan(2000);
		return lines;
	}
	const cancelled = { jsonrpc: "2.0", id: "prompt", result: { status: "cancelled" } };

	it("when idle: ends with 0 and keeps the session", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.response("prompt");
		expect(await endAndRead(server)).toEqual([]);
		expect(server.stderr).toContain("-r s");
		expect(stage.lastSessionId()).toBe("s");
	});

	it("while the answer streams: cancels and answers", async () => {
		const stage = createStage({ scripts: [longScript] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ContentPart");
		server.pause();
		setImmediate(() => server.resume());
		const lines = await endAndRead(server);
		expect(outline(lines.slice(-2))).toEqual(["TurnEnd", "cancelled"]);
		expect(lines.at(-1)).toEqual(cancelled);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it("during a tool: ends its processes, cancels and answers", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000 & sleep 1000")] });
		const server = stage.serve("--wire", "--yolo", "--session", "s");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		const lines = await endAndRead(server);
		expect(outline(lines)).toEqual([...statusOnly(lines), "TurnEnd", "cancelled"]);
		expect(lines.at(-1)).toEqual(cancelled);
		await nothingRuns(stage);
	});

	it("during an approval: rejects it, cancels and answers", async () => {
		const stage = createStage({ scripts: [shellCall("echo no > file")] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		const { id } = await server.message("ApprovalRequest");
		const lines = await endAndRead(server);
		expect(outline(lines)).toEqual(["ApprovalResponse", "TurnEnd", "cancelled"]);
		expect(lines[0]?.params?.payload).toMatchObject({ request_id: id, response: "reject" });
		expect(lines.at(-1)).toEqual(cancelled);
		expect(existsSync(path.join(stage.workDir, "file"))).toBe(false);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});
});

/** The status of the step may still be on its way. */
function statusOnly(lines: Parameters<typeof outline>[0]): string[] {
	return outline(lines).filter((type) => type === "StatusUpdate");
}

async function twoSleeps(stage: Stage): Promise<void> {
	if (process.platform !== "linux") return;
	const sleeps = () => stage.commands().filter((command) => command === "sleep 1000");
	await vi.waitFor(() => expect(sleeps()).toHaveLength(2), { timeout: 5000, interval: 20 });
}

async function nothingRuns(stage: Stage): Promise<void> {
	await vi.waitFor(() => expect(stage.commands()).toEqual([]), { timeout: 1000, interval: 20 });
}

describe("the other ways out", () => {
	it("cancel ends the processes of a tool and the server goes on", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000 & sleep 1000"), "text: again"] });
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		server.request("cancel", "cancel");
		const lines = await server.readUntil((line) => isResponse(line, "prompt"));
		expect(outline(lines)).toEqual([...statusOnly(lines), "result", "TurnEnd", "cancelled"]);
		await vi.waitFor(() => expect(stage.commands().filter((command) => command.includes("sleep"))).toEqual([]));
		server.prompt("more", "second");
		expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
	});

	it("stdout closed by the client cancels the turn and ends with 1", async () => {
		const stage = createStage({ scripts: [longScript] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ContentPart");
		server.closeOutput();
		expect(await server.exited).toBe(1);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it("stdout closed by the client during a tool ends its processes", async () => {
		const stage = createStage({ scripts: [`${shellCall("sleep 1000 & sleep 1000")}\ntext: a`] });
		const server = stage.serve("--wire", "--yolo", "--session", "s");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		server.closeOutput();
		// A pipe tells its writer only when it writes.
		server.request("x", "unheard-of");
		expect(await server.exited).toBe(1);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
		await nothingRuns(stage);
	});

	it("two signals in a row end it once", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000")] });
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		await server.message("ToolCall");
		server.kill("SIGTERM");
		server.kill("SIGINT");
		const lines = await server.readAll();
		expect(outline(lines.slice(-2))).toEqual(["TurnEnd", "cancelled"]);
		expect(await server.exited).toBe(0);
	});
});

describe("sessions", () => {
	it("an unknown id makes that session", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "brand-new");
		server.prompt("hi");
		await server.response("prompt");
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(stage.sessionIds()).toEqual(["brand-new"]);
	});

	it("a session without calls has just three files", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.response("prompt");
		server.endInput();
		await server.exited;
		for (const file of ["context.jsonl", "state.json", "wire.jsonl"]) {
			expect(existsSync(path.join(stage.sessionDir("s"), file))).toBe(true);
		}
		expect(existsSync(path.join(stage.sessionDir("s"), "calls.jsonl"))).toBe(false);
	});

	it("--continue takes up the last one", async () => {
		const stage = createStage();
		const first = stage.serve("--wire", "--session", "s");
		first.prompt("hi");
		await first.response("prompt");
		first.endInput();
		await first.exited;
		const second = stage.serve("--wire", "--continue");
		second.request("replay", "replay");
		const lines = await second.readUntil((line) => isResponse(line, "replay"));
		expect(outline(lines)).toEqual(["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd", "finished"]);
		expect(lines.at(-1)?.result).toEqual({ status: "finished", events: 5, requests: 0 });
	});

	it("--continue takes up one whose server was killed", async () => {
		const stage = createStage({ scripts: [shellCall("echo hi")] });
		const first = stage.serve("--wire", "--session", "killed");
		first.prompt("hi");
		await first.message("ApprovalRequest");
		first.kill("SIGKILL");
		await first.exited;
		stage.setScripts(["text: back"]);
		const second = stage.serve("--wire", "--continue");
		second.prompt("go on");
		expect(await second.response("prompt")).toMatchObject({ result: { status: "finished" } });
		second.endInput();
		expect(await second.exited).toBe(0);
		expect(stage.sessionIds()).toEqual(["killed"]);
	});

	it("a second server on a session does not refuse to start", async () => {
		const stage = createStage();
		const first = stage.serve("--wire", "--session", "s");
		first.prompt("hi");
		await first.response("prompt");
		const second = stage.serve("--wire", "--session", "s");
		second.initialize();
		expect(await second.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		second.prompt("hi");
		expect(await second.response("prompt")).toMatchObject({ result: { status: "finished" } });
		for (const server of [first, second]) {
			server.endInput();
			expect(await server.exited).toBe(0);
		}
	});

	it.each([
		["used", true],
		["not used", false],
	])("a directory made beforehand keeps what else is in it when the session is %s", async (_name, used) => {
		const stage = createStage();
		const kept = path.join(stage.sessionDir("s"), "baseline", "file");
		mkdirSync(path.dirname(kept), { recursive: true });
		writeFileSync(kept, "as it was");
		const server = stage.serve("--wire", "--session", "s");
		server.initialize();
		await server.response("initialize");
		if (used) {
			server.prompt("hi");
			expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		}
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(existsSync(kept)).toBe(true);
	});

	it("a directory deleted under it fails the turn with the path, and the server goes on", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi", "first");
		await server.response("first");
		rmSync(stage.sessionDir("s"), { recursive: true });
		server.prompt("more", "second");
		const lines = await server.readUntil((line) => isResponse(line, "second"));
		expect(outline(lines).slice(-2)).toEqual(["TurnEnd", "-32603"]);
		expect(lastOf(lines).error?.message).toContain(stage.sessionDir("s"));
		server.request("x", "unheard-of");
		expect(await server.response("x")).toMatchObject({ error: { code: -32601 } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("the session directory is named after the path as given, links kept", async () => {
		const stage = createStage();
		const link = path.join(stage.shareDir, "link");
		symlinkSync(stage.workDir, link);
		const server = stage.serve("--wire", "--session", "s", "--work-dir", link);
		server.prompt("hi");
		await server.response("prompt");
		server.endInput();
		await server.exited;
		expect(stage.sessionIds()).toEqual([]);
	});
});
