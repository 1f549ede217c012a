// The published client of Kimi Wire, unchanged, with this executable in the place of the one it was made for.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
	type ApprovalResponse,
	CliError,
	createSession,
	type ExternalTool,
	isLoggedIn,
	ProtocolClient,
	parseConfig,
	prompt,
	type Session,
	type SessionInfo,
	type StreamEvent,
	TransportError,
	type Turn,
} from "@moonshot-ai/kimi-agent-sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable.ts";

type SessionChanges = Partial<Parameters<typeof createSession>[0]>;

function openSession(stage: Stage, changes: SessionChanges = {}): Session {
	const session = createSession({
		workDir: stage.workDir,
		executable: executablePath,
		shareDir: stage.shareDir,
		env: { ...stage.environment },
		...changes,
	});
	onTestFinished(() => session.close());
	return session;
}

/** Runs a turn to its end; `react` sees every event as it comes. */
async function run(turn: Turn, react: (event: StreamEvent) => unknown = () => {}) {
	const events: StreamEvent[] = [];
	for await (const event of turn) {
		events.push(event);
		await react(event);
	}
	expect(events.filter(({ type }) => type === "error")).toEqual([]);
	return { events, types: events.map(({ type }) => type), result: await turn.result };
}

/** Answers every approval alike. */
const answering = (turn: Turn, response: ApprovalResponse) => (event: StreamEvent) =>
	event.type === "ApprovalRequest" ? turn.approve(event.payload.id, response) : undefined;

function payloadsOf<T extends StreamEvent["type"]>(events: readonly StreamEvent[], type: T) {
	return events.flatMap((event) => (event.type === type ? [event.payload] : []));
}

const shellCall = (id: string, command: string) => toolCall(id, "Shell", { command });

/**
 * Calls a function of the client in a process of its own: which share directory it reads is settled when it is loaded.
 */
async function callReader(stage: Stage, name: string, argument: unknown, ...others: unknown[]): Promise<unknown> {
	const code = `import * as client from "@moonshot-ai/kimi-agent-sdk";
const [name, ...values] = JSON.parse(process.argv[1]);
console.log(JSON.stringify(await client[name](...values)));`;
	const { stdout } = await promisify(execFile)(
		process.execPath,
		["--input-type=module", "-e", code, JSON.stringify([name, argument, ...others])],
		{ cwd: fileURLToPath(new URL("../..", import.meta.url)), env: stage.environment },
	);
	return JSON.parse(stdout);
}

function contextRoles(stage: Stage, sessionId: string): string[] {
	return readFileSync(path.join(stage.sessionDir(sessionId), "context.jsonl"), "utf8")
		.split("\n")
		.flatMap((line) => (line === "" ? [] : JSON.parse(line).role))
		.filter((role) => !role.startsWith("_"));
}

const plainTurn = ["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd"];

describe("answers", () => {
	it("a text, by the one-shot helper", async () => {
		const stage = createStage({ scripts: ["usage: input_other=5 output=2\nid: m-1\ntext: Hello"] });
		const { result, events } = await prompt("hi", {
			workDir: stage.workDir,
			executable: executablePath,
			shareDir: stage.shareDir,
			env: { ...stage.environment },
		});
		expect(result).toEqual({ status: "finished" });
		expect(events.map(({ type }) => type)).toEqual(plainTurn);
		expect(payloadsOf(events, "TurnBegin")).toEqual([{ user_input: "hi" }]);
		expect(payloadsOf(events, "ContentPart")).toEqual([{ type: "text", text: "Hello" }]);
		expect(payloadsOf(events, "StatusUpdate")).toMatchObject([
			{ token_usage: { input_other: 5, output: 2 }, message_id: "m-1" },
		]);
	});

	it("with thinking", async () => {
		const stage = createStage({ scripts: ["think: hm\ntext: so"], modelSettings: { capabilities: ["thinking"] } });
		const { events, result } = await run(openSession(stage, { thinking: true }).prompt("hi"));
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "ContentPart")).toMatchObject([
			{ type: "think", think: "hm" },
			{ type: "text", text: "so" },
		]);
	});

	it("to content parts", async () => {
		const session = openSession(createStage());
		const input = [
			{ type: "text" as const, text: "one" },
			{ type: "text" as const, text: "two" },
		];
		const { events } = await run(session.prompt(input));
		expect(payloadsOf(events, "TurnBegin")).toEqual([{ user_input: input }]);
	});

	it("to two prompts the client queues", async () => {
		const session = openSession(createStage({ scripts: ["text: one", "text: two"] }));
		session.prompt("first");
		const { types } = await run(session.prompt("second"));
		expect(types).toEqual([...plainTurn, ...plainTurn]);
	});

	it("an error of the provider, after which the session goes on", async () => {
		const session = openSession(createStage({ scripts: ["no script", "text: fine"] }));
		const failed = run(session.prompt("hi"));
		await expect(failed).rejects.toBeInstanceOf(CliError);
		await expect(failed).rejects.toMatchObject({ code: "CHAT_PROVIDER_ERROR", numericCode: -32003 });
		expect((await run(session.prompt("again"))).types).toEqual(plainTurn);
	});
});

describe("approvals", () => {
	const scripts = [shellCall("call-1", "echo ran >> file; cat file"), "text: done"];

	it("approved: the tool runs", async () => {
		const stage = createStage({ scripts });
		const turn = openSession(stage).prompt("hi");
		const { events, types, result } = await run(turn, answering(turn, "approve"));
		expect(result).toEqual({ status: "finished" });
		expect(types.filter((type) => /^(Approval|Tool|Step)/.test(type))).toEqual([
			"StepBegin",
			"ToolCall",
			"ApprovalRequest",
			"ApprovalResponse",
			"ToolResult",
			"StepBegin",
		]);
		expect(payloadsOf(events, "ToolResult")).toMatchObject([
			{ tool_call_id: "call-1", return_value: { is_error: false, output: "ran\n" } },
		]);
	});

	it("rejected: it does not, and the turn ends", async () => {
		const stage = createStage({ scripts });
		const turn = openSession(stage).prompt("hi");
		const { events, types, result } = await run(turn, answering(turn, "reject"));
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "ToolResult")).toMatchObject([{ return_value: { is_error: true } }]);
		expect(types.filter((type) => type === "StepBegin")).toHaveLength(1);
		expect(existsSync(path.join(stage.workDir, "file"))).toBe(false);
	});

	it("for the session: asked once, also after a restart", async () => {
		const stage = createStage({
			scripts: [shellCall("call-1", "echo 1"), shellCall("call-2", "echo 2"), "text: done"],
		});
		const first = openSession(stage);
		const turn = first.prompt("hi");
		const { types } = await run(turn, answering(turn, "approve_for_session"));
		expect(types.filter((type) => type === "ApprovalRequest")).toHaveLength(1);
		expect(types.filter((type) => type === "ToolResult")).toHaveLength(2);
		await first.close();
		const second = openSession(stage, { sessionId: first.sessionId });
		const again = await run(second.prompt("more"));
		expect(again.types).not.toContain("ApprovalRequest");
		expect(again.types.filter((type) => type === "ToolResult")).toHaveLength(2);
	});

	it("none with yoloMode", async () => {
		const { types, result } = await run(openSession(createStage({ scripts }), { yoloMode: true }).prompt("hi"));
		expect(result).toEqual({ status: "finished" });
		expect(types).not.toContain("ApprovalRequest");
		expect(types).toContain("ToolResult");
	});
});

describe("tools of the client", () => {
	const tool = (handler: ExternalTool["handler"]): ExternalTool => ({
		name: "lookup",
		description: "Looks something up.",
		parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
		handler,
	});
	const scripts = [toolCall("call-1", "lookup", { word: "wire" }), "text: done"];

	it("are called with their arguments and give their result", async () => {
		const calls: unknown[] = [];
		const lookup = tool(async (params) => {
			calls.push(params);
			return { output: "a thin thread", message: "found" };
		});
		const session = openSession(createStage({ scripts }), { externalTools: [lookup] });
		const { events, result } = await run(session.prompt("hi"));
		expect(result).toEqual({ status: "finished" });
		expect(calls).toEqual([{ word: "wire" }]);
		expect(payloadsOf(events, "ToolResult")).toMatchObject([
			{ tool_call_id: "call-1", return_value: { is_error: false, output: "a thin thread", message: "found" } },
		]);
	});

	it("that throw give an error the turn survives", async () => {
		const lookup = tool(async () => {
			throw new Error("out of order");
		});
		const session = openSession(createStage({ scripts }), { externalTools: [lookup] });
		const { events, result } = await run(session.prompt("hi"));
		expect(result).toEqual({ status: "finished" });
		expect(JSON.stringify(payloadsOf(events, "ToolResult"))).toContain("out of order");
		expect(payloadsOf(events, "ToolResult")).toMatchObject([{ return_value: { is_error: true } }]);
	});
});

describe("steering and stopping", () => {
	it("steers a turn while it waits for an approval", async () => {
		const stage = createStage({ scripts: [shellCall("call-1", "echo hi"), "text: done"] });
		const turn = openSession(stage).prompt("hi");
		const { events, types, result } = await run(turn, async (event) => {
			if (event.type !== "ApprovalRequest") return;
			await turn.steer("be brief");
			await turn.approve(event.payload.id, "approve");
		});
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "SteerInput")).toEqual([{ user_input: "be brief" }]);
		expect(types.slice(types.indexOf("ToolResult"))).toEqual([
			"ToolResult",
			"SteerInput",
			"StepBegin",
			"ContentPart",
			"StatusUpdate",
			"TurnEnd",
		]);
	});

	it("cancels during a tool", async () => {
		const stage = createStage({ scripts: [shellCall("call-1", "sleep 1000"), "text: next"] });
		const session = openSession(stage, { yoloMode: true });
		const turn = session.prompt("hi");
		const { types, result } = await run(turn, (event) => (event.type === "ToolCall" ? turn.interrupt() : undefined));
		expect(result).toEqual({ status: "cancelled" });
		expect(types.at(-1)).toBe("TurnEnd");
		expect(types).not.toContain("ToolResult");
		expect((await run(session.prompt("go on"))).result).toEqual({ status: "finished" });
		await vi.waitFor(() => expect(stage.commands().filter((command) => command.includes("sleep"))).toEqual([]));
	});

	it("cancels during an approval", async () => {
		const stage = createStage({ scripts: [shellCall("call-1", "echo ran > file"), "text: next"] });
		const turn = openSession(stage).prompt("hi");
		const { events, types, result } = await run(turn, (event) =>
			event.type === "ApprovalRequest" ? turn.interrupt() : undefined,
		);
		expect(result).toEqual({ status: "cancelled" });
		expect(types.slice(-3)).toEqual(["ApprovalRequest", "ApprovalResponse", "TurnEnd"]);
		expect(payloadsOf(events, "ApprovalResponse")).toMatchObject([{ response: "reject" }]);
		expect(existsSync(path.join(stage.workDir, "file"))).toBe(false);
	});

	it("closing during a turn settles it", async () => {
		const stage = createStage({ scripts: [shellCall("call-1", "sleep 1000")] });
		const session = openSession(stage, { yoloMode: true });
		const turn = session.prompt("hi");
		const { types, result } = await run(turn, (event) => {
			if (event.type === "ToolCall") void session.close();
		});
		expect(result).toEqual({ status: "cancelled" });
		expect(types.at(-1)).toBe("TurnEnd");
	});

	it("refuses plan mode, which does not exist yet", async () => {
		const session = openSession(createStage());
		await run(session.prompt("hi"));
		await expect(session.setPlanMode(true)).rejects.toMatchObject({ code: "INVALID_STATE", numericCode: -32000 });
	});
});

describe("sessions", () => {
	it("go on in a new process", async () => {
		const stage = createStage();
		const first = openSession(stage);
		await run(first.prompt("one"));
		await first.close();
		const second = openSession(stage, { sessionId: first.sessionId });
		expect((await run(second.prompt("two"))).result).toEqual({ status: "finished" });
		expect(contextRoles(stage, first.sessionId)).toEqual(["user", "assistant", "user", "assistant"]);
		expect(stage.loggedTypes(first.sessionId)).toEqual([...plainTurn, ...plainTurn]);
	});

	it("keep their id when options change between turns", async () => {
		const stage = createStage({ scripts: [shellCall("call-1", "echo $COLOUR"), "text: done"] });
		const session = openSession(stage, { yoloMode: true, env: { ...stage.environment, COLOUR: "red" } });
		const first = await run(session.prompt("hi"));
		session.env = { ...stage.environment, COLOUR: "blue" };
		session.yoloMode = false;
		const turn = session.prompt("hi");
		const second = await run(turn, answering(turn, "approve"));
		const outputs = [first, second].map(({ events }) => payloadsOf(events, "ToolResult")[0]?.return_value.output);
		expect(outputs).toEqual(["red\n", "blue\n"]);
		expect([first, second].map(({ types }) => types.includes("ApprovalRequest"))).toEqual([false, true]);
		expect(stage.sessionIds()).toEqual([session.sessionId]);
		expect(stage.loggedTypes(session.sessionId).filter((type) => type === "TurnBegin")).toHaveLength(2);
	});

	it("are listed, read and deleted by the client itself", async () => {
		const stage = createStage();
		const session = openSession(stage);
		await run(session.prompt("What is a wire?"));
		const listed: unknown = await callReader(stage, "listSessions", stage.workDir);
		expect(listed).toEqual([
			{
				id: session.sessionId,
				workDir: stage.workDir,
				contextFile: path.join(stage.sessionDir(session.sessionId), "wire.jsonl"),
				updatedAt: expect.any(Number),
				brief: "What is a wire?",
			} satisfies SessionInfo,
		]);
		expect(await callReader(stage, "listSessionsForWorkspace", path.dirname(stage.workDir))).toEqual(listed);
		const events = (await callReader(stage, "parseSessionEvents", stage.workDir, session.sessionId)) as StreamEvent[];
		expect(events.map(({ type }) => type)).toEqual(plainTurn);
		expect(await callReader(stage, "deleteSession", stage.workDir, session.sessionId)).toBe(true);
		const deleted = run(session.prompt("still there?"));
		await expect(deleted).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
	});

	it("forked by the client go on as sessions of their own", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const source = openSession(stage);
		await run(source.prompt("first"));
		await run(source.prompt("second"));
		const { sessionId } = (await callReader(stage, "forkSession", {
			workDir: stage.workDir,
			sourceSessionId: source.sessionId,
			turnIndex: 0,
		})) as { sessionId: string };
		const fork = openSession(stage, { sessionId });
		expect((await run(fork.prompt("another way"))).types).toEqual(plainTurn);
		expect(contextRoles(stage, sessionId)).toEqual(["user", "assistant", "user", "assistant"]);
		expect(stage.loggedTypes(sessionId)).toEqual([...plainTurn, ...plainTurn]);
		expect(contextRoles(stage, source.sessionId)).toEqual(["user", "assistant", "user", "assistant"]);
		const sessions = (await callReader(stage, "listSessions", stage.workDir)) as SessionInfo[];
		expect(sessions.map(({ id }) => id).toSorted()).toEqual([source.sessionId, sessionId].toSorted());
	});

	it("are replayed with the counts of what was sent", async () => {
		const stage = createStage();
		const session = openSession(stage);
		await run(session.prompt("hi"));
		await session.close();
		const client = new ProtocolClient();
		onTestFinished(() => client.stop());
		const { workDir } = stage;
		const environmentVariables = { ...stage.environment };
		await client.start({ sessionId: session.sessionId, workDir, executablePath, environmentVariables });
		const replay = client.sendReplay();
		const types: string[] = [];
		for await (const { type } of replay.events) types.push(type);
		expect(types).toEqual(plainTurn);
		expect(await replay.result).toEqual({ status: "finished", events: 5, requests: 0 });
	});
});

describe("starting", () => {
	it("a start that fails is told with its reason", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "[loop_control]\nmax_steps_per_turn = 0\n");
		const failed = run(openSession(stage).prompt("hi"));
		await expect(failed).rejects.toBeInstanceOf(TransportError);
		await expect(failed).rejects.toMatchObject({
			code: "PROCESS_CRASHED",
			message: expect.stringMatching(/code 1.*config\.toml.*loop_control\.max_steps_per_turn: /s),
		});
	});

	it("an unknown model is told at the prompt", async () => {
		const failed = run(openSession(createStage(), { model: "none" }).prompt("hi"));
		await expect(failed).rejects.toMatchObject({ code: "LLM_NOT_SET", numericCode: -32001 });
	});

	it("the check of an editor works without settings and leaves no session", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "");
		const client = new ProtocolClient();
		const environmentVariables = { ...stage.environment };
		const handshake = await client.start({ workDir: stage.workDir, executablePath, environmentVariables });
		expect(handshake).toMatchObject({ protocol_version: "1.10", server: { name: "agentwire" } });
		await client.stop();
		expect(stage.sessionIds()).toEqual([]);
	});

	it("the client reads the settings that the server writes", async () => {
		const stage = createStage();
		rmSync(path.join(stage.shareDir, "config.toml"));
		const old = {
			default_model: "k",
			models: {
				k: { provider: "managed:kimi-code", model: "kimi-k2", max_context_size: 1000, capabilities: ["thinking"] },
			},
			providers: { "managed:kimi-code": { type: "kimi", base_url: "https://example.invalid/v1", api_key: "key" } },
		};
		writeFileSync(path.join(stage.shareDir, "config.json"), JSON.stringify(old));
		expect(await stage.run("--wire")).toMatchObject({ code: 0 });
		expect(parseConfig(stage.shareDir)).toMatchObject({
			defaultModel: "k",
			models: [{ id: "k", name: "kimi-k2", capabilities: ["thinking"] }],
		});
		expect(isLoggedIn(stage.shareDir)).toBe(true);
	});
});
