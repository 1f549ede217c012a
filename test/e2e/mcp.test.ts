// MCP servers with the built executable: published ones, and one that does all that a server must not do.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, type StageOptions, toolCall } from "../support/executable/executable.ts";
import { lastOf, outline } from "../support/executable/running-server.ts";
import { answering, openSession, payloadsOf, run } from "../support/executable/sdk-client.ts";
import {
	fixture,
	loadingOf,
	logOf,
	published,
	resultsOf,
	runTurn,
	serveEverything,
	textOf,
	until,
	writeServers,
} from "../support/mcp/mcp-stage.ts";

const waited = (name: string) => [
	`loading, ${name} connecting`,
	"MCPLoadingBegin",
	`loaded, ${name} connected`,
	"MCPLoadingEnd",
];

/** A stage on which the model calls these tools, one in each step, and then is done. */
function createCallingStage(
	calls: readonly (readonly [name: string, value?: object])[],
	options: StageOptions = {},
): Stage {
	const scripts = calls.map(([name, value = {}], index) => toolCall(`c${index + 1}`, name, value));
	return createStage({ scripts: [...scripts, "text: done"], ...options });
}

/** The settings of the stage with more in them. */
function withSettings(stage: Stage, settings: object): readonly string[] {
	return ["--config", JSON.stringify({ ...JSON.parse(stage.configText), ...settings })];
}

/** The processes of the stage that are no server of ours, nor a watchdog. */
const serverCommands = (stage: Stage) => stage.commands().filter((command) => command.includes("server.mjs"));

describe("published servers", () => {
	it("are called over stdin and stdout, with approval", async () => {
		const stage = createCallingStage([
			["echo", { message: "hello" }],
			["read_text_file", { path: "note.txt" }],
		]);
		writeFileSync(path.join(stage.workDir, "note.txt"), "a note");
		writeServers(stage, {
			everything: { command: process.execPath, args: [published("everything"), "stdio"] },
			files: { command: process.execPath, args: [published("filesystem"), "."], cwd: "." },
		});
		const server = stage.serve();
		server.initialize();
		const lines = await runTurn(server);
		const asked = lines.filter(({ params }) => params?.type === "ApprovalRequest");
		expect(asked.map(({ params }) => params?.payload)).toMatchObject([
			{
				sender: "echo",
				action: "mcp:echo",
				description: "Call MCP tool `echo`.",
				display: [{ type: "brief", text: "Approving it for the session covers `mcp__everything__echo`." }],
			},
			{
				sender: "read_text_file",
				action: "mcp:read_text_file",
				description: "Call MCP tool `read_text_file`.",
			},
		]);
		expect(textOf(resultsOf(lines)["c1"])).toBe("Echo: hello");
		expect(textOf(resultsOf(lines)["c2"])).toBe("a note");
		server.endInput();
		expect(await server.exited).toBe(0);
		await until(() => stage.commands().length === 0);
		// What servers say goes to the log.
		expect(server.stderr).toMatch(/^\nTo resume this session: \S+ -r \S+\n$/);
		expect(logOf(stage)).toMatch(/"server":"everything","source":"stderr"/);
	});

	it.each(["streamableHttp", "sse"] as const)(
		"are called over %s, also when they were started anew",
		async (transport) => {
			const web = await serveEverything(transport);
			const calls = [
				["get-sum", { a: 2, b: 3 }],
				["echo", { message: "again" }],
			] as const;
			const stage = createCallingStage(calls);
			writeServers(stage, { web: { url: web.url } });
			const server = stage.serve();
			server.prompt("go");
			server.decide(await server.message("ApprovalRequest"), "approve");
			const first = await server.readUntil(({ params }) => params?.type === "ApprovalRequest");
			expect(textOf(resultsOf(first)["c1"])).toBe("The sum of 2 and 3 is 5.");
			await web.end();
			await serveEverything(transport, web.port);
			server.decide(lastOf(first), "approve");
			const rest = await server.readUntil(({ id }) => id === "prompt");
			expect(textOf(resultsOf(rest)["c2"])).toBe("Echo: again");
		},
	);

	it("may ask the person in the middle of a call", async () => {
		const web = await serveEverything("streamableHttp");
		const stage = createCallingStage([["trigger-elicitation-request"]]);
		writeServers(stage, { web: { url: web.url } });
		const server = stage.serve("--yolo");
		server.request("initialize", "initialize", { protocol_version: "1.10", capabilities: { supports_question: true } });
		server.prompt("go");
		const asked: string[] = [];
		for (;;) {
			const line = await server.read();
			if (line === null) throw new Error("The output ended.");
			const { type, payload } = line.params ?? {};
			if (type === "ToolResult") {
				expect(textOf(resultsOf([line])["c1"])).toContain("- Name: Ada");
				break;
			}
			if (type !== "QuestionRequest") continue;
			const questions = payload?.["questions"] as { question: string; options: { label: string }[] }[] | undefined;
			const question = questions?.[0];
			asked.push(question?.question ?? "");
			const answer = asked.length === 1 ? "Ada" : (question?.options[0]?.label ?? "");
			server.answer(line.id ?? "", { request_id: line.id, answers: { [question?.question ?? ""]: answer } });
		}
		expect(asked[0]).toMatch(/^The MCP server web asks: /);
		expect(asked.length).toBeGreaterThan(5);
	});

	it("are called for the published client", async () => {
		const stage = createCallingStage([["echo", { message: "hello" }]]);
		writeServers(stage, { everything: { command: process.execPath, args: [published("everything"), "stdio"] } });
		const turn = openSession(stage).prompt("hi");
		const { events, result } = await run(turn, answering(turn, "approve"), ["MCPLoadingBegin", "MCPLoadingEnd"]);
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "ApprovalRequest")).toMatchObject([{ action: "mcp:echo" }]);
		expect(payloadsOf(events, "ToolResult")).toMatchObject([
			{ return_value: { is_error: false, output: [{ type: "text", text: "Echo: hello" }] } },
		]);
	});
});

describe("a server that misbehaves", () => {
	it("dies in a call, and is there for the next one", async () => {
		const stage = createCallingStage([["die"], ["echo", { text: "I live." }]]);
		writeServers(stage, { mortal: fixture() });
		const lines = await runTurn(stage.serve("--yolo"));
		const { c1, c2 } = resultsOf(lines);
		expect(c1).toMatchObject({ is_error: true, display: [{ type: "brief", text: "Tool runtime error" }] });
		expect(c1?.message).toBe(
			"Error running tool: MCP server mortal: it was ended by SIGKILL; its last output: I die. The call may have had an effect.",
		);
		expect(textOf(c2)).toBe("I live.");
		expect(lastOf(lines).result).toEqual({ status: "finished" });
	});

	it("dies between turns, which the next one reports", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "die", {}), "text: done", "text: done"] });
		writeServers(stage, { mortal: fixture() });
		const server = stage.serve("--yolo");
		expect(loadingOf(await runTurn(server))).toEqual([...waited("mortal"), "StepBegin", "StepBegin"]);
		expect(loadingOf(await runTurn(server, "next"))).toEqual(["loaded, mortal failed", "StepBegin"]);
	});

	it("hangs at start, is not waited for beyond its time, and is taken in when it comes", async () => {
		const stage = createStage({ scripts: Array.from({ length: 1000 }, () => "text: done") });
		const file = path.join(stage.workDir, "come");
		writeServers(stage, { slow: fixture("until", file) });
		const server = stage.serve("--yolo", ...withSettings(stage, { agentwire: { mcp_start_timeout: 2 } }));
		expect(loadingOf(await runTurn(server))).toEqual([
			"loading, slow connecting",
			"MCPLoadingBegin",
			"loaded, slow connecting",
			"MCPLoadingEnd",
			"StepBegin",
		]);
		writeFileSync(file, "");
		// It answers within some milliseconds, and the first turn after that reports it.
		const delivered: string[] = [];
		for (let n = 0; delivered.length === 0; n += 1) {
			delivered.push(...loadingOf(await runTurn(server, `next-${n}`)).filter((word) => word !== "StepBegin"));
		}
		expect(delivered).toEqual(["loaded, slow connected"]);
	});

	it("hangs in a call, which has a time of its own, and hears that it is over", async () => {
		const stage = createCallingStage([
			["slow", { file: "never" }],
			["echo", { text: "on" }],
		]);
		writeServers(stage, { slow: { ...fixture(), timeout: 400, cwd: "." } });
		const { c1, c2 } = resultsOf(await runTurn(stage.serve("--yolo")));
		expect(c1).toMatchObject({
			is_error: true,
			message:
				"The MCP server slow did not answer within 0.4 s, and the call was cancelled. The last progress it reported was 1 of 2, half.",
			display: [{ type: "brief", text: "Timeout" }],
		});
		expect(textOf(c2)).toBe("on");
		await until(() => existsSync(path.join(stage.workDir, "never.cancelled")));
	});

	it("is notified of a cancel, which waits for nothing", async () => {
		const stage = createCallingStage([["slow", { file: "never" }]]);
		writeServers(stage, { slow: fixture() });
		const server = stage.serve("--yolo");
		server.prompt("go");
		await server.message("ToolCall");
		server.request("cancel", "cancel");
		expect((await server.response("prompt")).result).toEqual({ status: "cancelled" });
	});

	it("prints lines that are no messages, has a hundred tools and results of fifty megabytes, and sends a message that is too long", async () => {
		const stage = createCallingStage([["tool-100"], ["big", { megabytes: 50 }], ["blabber", { kilobytes: 300 }]], {
			modelSettings: { max_context_size: 1_000_000 },
		});
		writeServers(stage, { loud: fixture("rubbish", "tools", "100") });
		const server = stage.serve("--yolo");
		const { c1, c2, c3 } = resultsOf(await runTurn(server));
		expect(textOf(c1)).toBe("tool-100");
		expect(textOf(c2)).toBe(
			`${"x".repeat(100_000)}[The result was cut at 100000 characters: 49900000 characters of text left out.]`,
		);
		expect(textOf(c3)).toBe("said");
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(logOf(stage).length).toBeLessThan(200_000);
		expect(logOf(stage)).toContain("Rubbish.");
	});

	it("cannot start, which fails no turn, and is reported also when it happened before", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		writeServers(stage, {
			broken: fixture("exit", "3"),
			missing: { command: "no-such-program" },
			closed: { url: "http://127.0.0.1:9/mcp" },
			secret: { url: "https://example.com/mcp", auth: "oauth" },
		});
		const server = stage.serve();
		server.initialize();
		await server.response("initialize");
		await until(() => logOf(stage).match(/could not be connected/g)?.length === 4);
		const lines = await runTurn(server);
		expect(loadingOf(lines)).toEqual([
			"loaded, broken failed, missing failed, closed failed, secret unauthorized",
			"StepBegin",
		]);
		expect(lastOf(lines).result).toEqual({ status: "finished" });
		expect(outline(await runTurn(server, "next"))).toEqual([
			"TurnBegin",
			"StepBegin",
			"ContentPart",
			"StatusUpdate",
			"TurnEnd",
			"finished",
		]);
		expect(logOf(stage)).toContain("it exited with code 3; its last output: I cannot start");
	});

	it("could not start, and is tried again with later turns until it can", async () => {
		const stage = createStage({ scripts: Array.from({ length: 1000 }, () => "text: done") });
		const file = path.join(stage.workDir, "mended");
		writeServers(stage, { late: fixture("needs", file) });
		const server = stage.serve("--yolo");
		expect(loadingOf(await runTurn(server))).toEqual([
			"loading, late connecting",
			"MCPLoadingBegin",
			"loaded, late failed",
			"MCPLoadingEnd",
			"StepBegin",
		]);
		writeFileSync(file, "");
		expect(loadingOf(await runTurn(server, "second"))).toEqual(["StepBegin"]);
		const delivered: string[] = [];
		for (let n = 0; delivered.length === 0; n += 1) {
			delivered.push(...loadingOf(await runTurn(server, `next-${n}`)).filter((word) => word !== "StepBegin"));
		}
		expect(delivered).toEqual(["loaded, late connected"]);
	});

	it("adds a tool, fails a call, and requests input that this client cannot give", async () => {
		const stage = createCallingStage([["add"], ["added"], ["refuse"], ["ask"]]);
		writeServers(stage, { odd: fixture() });
		const { c2, c3, c4 } = resultsOf(await runTurn(stage.serve("--yolo")));
		expect(textOf(c2)).toBe("added");
		expect(c3).toMatchObject({ is_error: true, message: "The MCP tool reported an error.", display: [] });
		expect(textOf(c3)).toBe("I will not.");
		// This client cannot be asked.
		expect(textOf(c4)).toBe('{"action":"decline"}');
	});
});

describe("subagents", () => {
	it("do not get the tools of servers", async () => {
		const report = `text: ${"I could not call it. ".repeat(12)}`;
		const task = { description: "try", prompt: "call echo" };
		const scripts = [toolCall("c1", "Agent", task), toolCall("s1", "echo", { text: "hi" }), report, "text: done"];
		const stage = createStage({ scripts });
		writeServers(stage, { ours: fixture() });
		const lines = await runTurn(stage.serve("--yolo"));
		const inside = lines.flatMap(({ params }) => (params?.type === "SubagentEvent" ? [params.payload["event"]] : []));
		expect(inside).toContainEqual({
			type: "ToolResult",
			payload: {
				tool_call_id: "s1",
				return_value: expect.objectContaining({ message: "Tool `echo` not found" }),
			},
		});
	});
});

describe("print mode", () => {
	it("waits for servers and calls their tools", async () => {
		const stage = createCallingStage([["echo", { text: "printed" }]]);
		writeServers(stage, { ours: fixture() });
		const { code, stdout } = await stage.run("--print", "-p", "go", "--output-format", "stream-json");
		expect(code).toBe(0);
		expect(stdout).toContain("printed");
		expect(stage.commands()).toEqual([]);
	});
});

describe("what a server started", () => {
	const start = async (stage: Stage) => {
		writeServers(stage, { parent: fixture("grow") });
		const server = stage.serve("--yolo");
		await runTurn(server);
		const grown = () => stage.commands().filter((command) => command.startsWith("sleep 300"));
		expect([serverCommands(stage).length > 0, grown().length]).toEqual([true, 1]);
		return { server, rest: () => [...serverCommands(stage), ...grown()] };
	};

	it.each(["SIGKILL", "SIGTERM"] as const)("ends when the program ends by %s", async (signal) => {
		const { server, rest } = await start(createCallingStage([["pid"]]));
		server.kill(signal);
		await server.gone;
		await until(() => rest().length === 0);
	});

	it("ends when the program ends by the end of the input, in time", async () => {
		const { server, rest } = await start(createCallingStage([["pid"]]));
		const begun = performance.now();
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(performance.now() - begun).toBeLessThan(2000);
		expect(rest()).toEqual([]);
	});
});

describe("configuration", () => {
	it("is read from files and texts of the command line", async () => {
		const stage = createCallingStage([["echo", { text: "a" }]]);
		writeServers(stage, { unused: fixture("exit", "1") });
		const file = path.join(stage.workDir, "servers.json");
		writeFileSync(file, JSON.stringify({ a: fixture("exit", "1"), b: fixture("tools", "1") }));
		const text = JSON.stringify({ mcpServers: { a: { ...fixture(), tools: ["echo"] } } });
		const server = stage.serve("--yolo", "--mcp-config-file", "servers.json", "--mcp-config", text);
		const lines = await runTurn(server);
		expect(loadingOf(lines)).toContain("loaded, a connected, b connected");
		const status = lines.findLast(({ params }) => (params?.payload["mcp_status"] ?? null) !== null)?.params?.payload;
		expect(status?.["mcp_status"]).toMatchObject({
			servers: [
				{ name: "a", tools: ["echo"] },
				{ name: "b", tools: expect.arrayContaining(["pid", "tool-1"]) },
			],
		});
		expect(textOf(resultsOf(lines)["c1"])).toBe("a");
	});

	it("gives servers an environment and a place", async () => {
		const stage = createCallingStage([["get-env"]]);
		const servers = {
			env: { command: process.execPath, args: [published("everything")], env: { MY_KEY: "mine" }, cwd: ".." },
		};
		writeServers(stage, servers);
		const text = textOf(resultsOf(await runTurn(stage.serveWith({ THEIR_KEY: "theirs" }, "--yolo")))["c1"]);
		expect(JSON.parse(text)).toMatchObject({ MY_KEY: "mine", THEIR_KEY: "theirs" });
	});

	it.each<[string, string | null, readonly string[], number, RegExp]>([
		["no JSON", "{", [], 2, /^Invalid JSON in MCP configuration \S+mcp\.json:\n {2}not JSON/],
		[
			"text that is not JSON",
			null,
			["--mcp-config", "{"],
			2,
			/^Invalid JSON in MCP configuration --mcp-config:\n {2}not JSON/,
		],
		[
			"values that do not fit",
			'{"mcpServers":{"web":{"url":7},"prog":{"command":["npx"]}}}',
			[],
			1,
			/^Invalid MCP configuration \S+mcp\.json:\n {2}mcpServers\.web\.url: must be a string, found a number\n {2}mcpServers\.prog\.command: must be a string, found a list\n$/,
		],
		[
			"a text that does not fit",
			null,
			["--mcp-config", '{"mcpServers":[]}'],
			1,
			/MCP configuration --mcp-config:\n {2}mcpServers: /,
		],
		[
			"a file that is not there",
			null,
			["--mcp-config-file", "/no/such.json"],
			2,
			/--mcp-config-file: there is no file \/no\/such\.json/,
		],
	])("with %s is refused", async (_, file, flags, code, said) => {
		const stage = createStage();
		if (file !== null) writeFileSync(path.join(stage.shareDir, "mcp.json"), file);
		const finished = await stage.run("--wire", ...flags);
		expect({ code: finished.code, stdout: finished.stdout }).toEqual({ code, stdout: "" });
		expect(finished.stderr).toMatch(said);
		expect(stage.sessionIds()).toEqual([]);
	});
});
