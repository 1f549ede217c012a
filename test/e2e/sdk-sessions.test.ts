// What the published client of Kimi Wire does around turns: sessions, their files, and starting.
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
	isLoggedIn,
	ProtocolClient,
	parseConfig,
	type SessionInfo,
	type StreamEvent,
	TransportError,
} from "@moonshot-ai/kimi-agent-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";
import {
	answering,
	callReader,
	contextRoles,
	openSession,
	payloadsOf,
	plainTurn,
	run,
	shellCall,
} from "../support/executable/sdk-client.ts";

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
		const stage = createStage({ scripts: [shellCall("call-1", "echo $COLOR"), "text: done"] });
		const session = openSession(stage, { yoloMode: true, env: { ...stage.environment, COLOR: "red" } });
		const first = await run(session.prompt("hi"));
		session.env = { ...stage.environment, COLOR: "blue" };
		session.yoloMode = false;
		const turn = session.prompt("hi");
		const second = await run(turn, answering(turn, "approve"));
		expect([first, second].map(({ events }) => payloadsOf(events, "ToolResult"))).toMatchObject([
			[{ return_value: { output: "red\n" } }],
			[{ return_value: { output: "blue\n" } }],
		]);
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
	it("a start that fails is reported with its reason", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "[loop_control]\nmax_steps_per_turn = 0\n");
		const failed = run(openSession(stage).prompt("hi"));
		await expect(failed).rejects.toBeInstanceOf(TransportError);
		await expect(failed).rejects.toMatchObject({
			code: "PROCESS_CRASHED",
			message: expect.stringMatching(/code 1.*config\.toml.*loop_control\.max_steps_per_turn: /s),
		});
	});

	it("an unknown model is reported at the prompt", async () => {
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
		expect(await stage.run("--wire")).toEqual({ code: 0, stdout: "", stderr: "" });
		expect(parseConfig(stage.shareDir)).toMatchObject({
			defaultModel: "k",
			models: [{ id: "k", capabilities: ["thinking"] }],
		});
		expect(isLoggedIn(stage.shareDir)).toBe(true);
	});
});
