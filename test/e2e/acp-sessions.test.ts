// Stored sessions over the Agent Client Protocol, with the official client: whoever began them, however long they are, and
// however the program or its client ended.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/base/json.ts";
import {
	type AcpClient,
	connectAcp,
	isPermission,
	isUpdate,
	never,
	outlineOf,
	textOf,
	type Update,
} from "../support/executable/acp-client.ts";
import { createStage, databaseUrl, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

const shell = (command: string, id = "c1") => toolCall(id, "Shell", { command });

async function connect(stage: Stage, options: Parameters<typeof connectAcp>[1] = {}): Promise<AcpClient> {
	const client = connectAcp(stage, options);
	await client.initialize();
	return client;
}

/** What a new client is sent of a session before the answer to its load. */
async function loadAnew(stage: Stage, sessionId: string): Promise<readonly Update[]> {
	const client = await connect(stage);
	await client.load(sessionId);
	const answer = client.messages.findIndex(({ result }) => result !== undefined && result !== null && isLoad(result));
	const before = client.messages.slice(0, answer).filter(({ method }) => method === "session/update").length;
	return client.updates(sessionId).slice(0, before);
}

const isLoad = (result: unknown) => typeof result === "object" && result !== null && "modes" in result;

const messagesOf = (updates: readonly Update[]) => [
	textOf(updates, "user_message_chunk"),
	textOf(updates, "agent_message_chunk"),
];

/** The calls of a session, each with what it came to. */
function callsOf(updates: readonly Update[]): Record<string, unknown> {
	const calls: Record<string, unknown> = {};
	for (const update of updates) {
		if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") continue;
		calls[update.toolCallId] = update.status ?? calls[update.toolCallId];
	}
	return calls;
}

describe("a session", () => {
	it("is forked, and the fork loads in a later process, whatever became of the first one", async () => {
		const stage = createStage({ scripts: ["text: first", "text: second"] });
		const first = await connect(stage);
		const sessionId = await first.open();
		await first.prompt(sessionId, "begin");
		const answer: unknown = await first.agent.request("session/fork", { sessionId, cwd: stage.workDir });
		const forkId = isRecord(answer) ? String(answer["sessionId"]) : "";
		await first.prompt(forkId, "go on");
		first.kill("SIGKILL");
		await first.exited;
		expect(messagesOf(await loadAnew(stage, sessionId))).toEqual(["begin", "first"]);
		expect(messagesOf(await loadAnew(stage, forkId))).toEqual(["begingo on", "firstfirst"]);
		const later = await connect(stage);
		const { sessions } = await later.agent.request("session/list", {});
		expect(sessions.map(({ sessionId: id, title }) => [id, title]).sort()).toEqual(
			[
				[sessionId, "begin"],
				[forkId, "Fork: begin"],
			].sort(),
		);
	});

	// Changes of files are recorded on disk only.
	it.skipIf(databaseUrl !== undefined)(
		"goes back to before a turn, files included, once its plan was shown",
		async () => {
			const stage = createStage({ scripts: [shell("echo two > kept.txt; touch made.txt"), "text: changed"] });
			const kept = path.join(stage.workDir, "kept.txt");
			writeFileSync(kept, "one\n");
			const client = connectAcp(stage);
			expect((await client.initialize())._meta).toMatchObject({ rewind: { supported: true } });
			const sessionId = await client.open();
			await client.prompt(sessionId, "change");
			const messageId = client
				.updates(sessionId)
				.flatMap((update) => (update.sessionUpdate === "agent_message_chunk" ? [update.messageId] : []))[0];
			const rewind = (more: object = {}) =>
				client.agent.request<unknown, object>("_session/rewind", { sessionId, messageId, ...more });
			const files = [
				{ path: "kept.txt", action: "change", lines: { added: 1, removed: 1 }, conflict: false },
				{ path: "made.txt", action: "delete", lines: { added: 0, removed: 0 }, conflict: false },
			];
			expect(await rewind({ dryRun: true })).toMatchObject({ plan: { files }, files: null, messages: null });
			expect(readFileSync(kept, "utf8")).toBe("two\n");
			writeFileSync(kept, "mine\n");
			expect(await rewind()).toMatchObject({ files: { restored: [] }, messages: null });
			expect(readFileSync(kept, "utf8")).toBe("mine\n");
			expect(await rewind({ conflicts: "take" })).toMatchObject({ files: { left: [] }, messages: 0 });
			expect(readFileSync(kept, "utf8")).toBe("one\n");
			expect(existsSync(path.join(stage.workDir, "made.txt"))).toBe(false);
		},
	);

	it("is listed with its title, loads with all that it was, and goes on", async () => {
		const stage = createStage({ scripts: [`think: hm\n${shell("echo out")}`, "text: first", "text: second"] });
		const first = await connect(stage);
		const sessionId = await first.open();
		await first.prompt(sessionId, "begin");
		await first.agent.request("session/close", { sessionId });
		const live = first.updates(sessionId);
		first.endInput();
		expect(await first.exited).toBe(0);

		const second = await connect(stage);
		const { sessions } = await second.agent.request("session/list", {});
		expect(sessions).toMatchObject([{ sessionId, cwd: stage.workDir, title: "begin" }]);
		await second.load(sessionId);
		const replayed = second.updates(sessionId);
		expect(messagesOf(replayed)).toEqual(["begin", "first"]);
		expect(textOf(replayed, "agent_thought_chunk")).toBe("hm");
		expect(callsOf(replayed)).toEqual(callsOf(live));
		expect(await second.prompt(sessionId, "go on")).toBe("end_turn");
	});

	it("resumes without its history", async () => {
		const stage = createStage({ scripts: ["text: first"] });
		const first = await connect(stage);
		const sessionId = await first.open();
		await first.prompt(sessionId, "begin");
		first.endInput();
		await first.exited;
		stage.setScripts(["text: second"]);
		const second = await connect(stage);
		await second.agent.request("session/resume", { sessionId, cwd: stage.workDir, mcpServers: [] });
		expect(await second.prompt(sessionId, "go on")).toBe("end_turn");
		expect(messagesOf(second.updates(sessionId))).toEqual(["", "second"]);
	});

	it("that was deleted is gone, also while a turn runs in it", async () => {
		const stage = createStage({ scripts: [shell("touch made")] });
		const client = await connect(stage, { decide: never });
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "begin");
		await client.received(isPermission);
		await client.agent.request("session/delete", { sessionId });
		expect(await prompt).toBe("cancelled");
		expect(await client.agent.request("session/list", {})).toEqual({ sessions: [] });
		await expect(client.load(sessionId)).rejects.toMatchObject({ code: -32_002 });
		await client.agent.request("session/delete", { sessionId });
	});

	it("that is closed while a turn runs in it answers the prompt first, and can be loaded", async () => {
		const stage = createStage({ scripts: [shell("touch made")] });
		const client = await connect(stage, { decide: never });
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "begin");
		await client.received(isPermission);
		await client.agent.request("session/close", { sessionId });
		expect(await prompt).toBe("cancelled");
		await client.load(sessionId);
		expect(Object.values(callsOf(client.updates(sessionId)))).toEqual(["failed"]);
	});

	it("that is loaded while a permission is open asks again, and the prompt goes on", async () => {
		const stage = createStage({ scripts: [shell("touch made"), "text: done"] });
		const answers: (() => void)[] = [];
		const client = await connect(stage, {
			decide: () => new Promise((resolve) => answers.push(() => resolve({ outcome: "selected", optionId: "approve" }))),
		});
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "begin");
		await expect.poll(() => answers.length).toBe(1);
		await client.load(sessionId);
		await expect.poll(() => answers.length).toBe(2);
		answers[1]?.();
		expect(await prompt).toBe("end_turn");
		answers[0]?.();
	});

	it("loaded twice at once is sent twice, and later updates once", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const client = await connect(stage);
		const sessionId = await client.open();
		await client.prompt(sessionId, "begin");
		await Promise.all([client.load(sessionId), client.load(sessionId)]);
		await client.prompt(sessionId, "go on");
		expect(textOf(client.updates(sessionId), "agent_message_chunk")).toBe("oneoneonetwo");
	});
});

describe("after the end of a client", () => {
	it("a session has no open approval, and its call has failed", async () => {
		const stage = createStage({ scripts: [shell("touch made"), "text: fine"] });
		const first = await connect(stage, { decide: never });
		const sessionId = await first.open();
		void first.prompt(sessionId, "begin");
		await first.received(isPermission);
		first.endInput();
		expect(await first.exited).toBe(0);
		const updates = await loadAnew(stage, sessionId);
		expect(Object.values(callsOf(updates))).toEqual(["failed"]);
	});

	it("killed with the program, a session has all that was delivered, and goes on", async () => {
		const words = Array.from({ length: 40 }, (_, n) => `text: word${n} `).join("\n");
		const stage = createStage({ scripts: [`${words}\n${shell("touch made")}`, "text: fine"] });
		const first = await connect(stage, { decide: never });
		const sessionId = await first.open();
		first.prompt(sessionId, "begin").catch(() => {});
		await first.received(isPermission);
		const delivered = messagesOf(first.updates(sessionId));
		first.kill("SIGKILL");
		await first.exited;
		const updates = await loadAnew(stage, sessionId);
		expect(messagesOf(updates)).toEqual(["begin", delivered[1]]);
		expect(Object.values(callsOf(updates))).toEqual(["failed"]);
		expect(delivered[1]).toContain("word39");
		stage.setScripts(["text: fine"]);
		// On many machines, a killed process owns its session until its lease has run out.
		const third = await connect(stage, { flags: ["acp", "--take-over"] });
		await third.load(sessionId);
		expect(await third.prompt(sessionId, "go on")).toBe("end_turn");
		// What followed the lost turn is no part of it.
		expect(messagesOf(await loadAnew(stage, sessionId))).toEqual(["begingo on", `${delivered[1]}fine`]);
	});
});

describe("sessions of other front ends are listed and loaded", () => {
	const scripts = [shell("echo out"), "text: answer"];

	async function expectListed(stage: Stage) {
		const client = await connect(stage);
		const { sessions } = await client.agent.request("session/list", { cwd: stage.workDir });
		expect(sessions).toMatchObject([{ cwd: stage.workDir, title: "begin" }]);
		const id = sessions[0]?.sessionId ?? "";
		await client.load(id);
		expect(messagesOf(client.updates(id))).toEqual(["begin", "answer"]);
		expect(Object.values(callsOf(client.updates(id)))).toEqual(["completed"]);
		stage.setScripts(["text: more"]);
		expect(await client.prompt(id, "go on")).toBe("end_turn");
	}

	it("of Kimi Wire", async () => {
		const stage = createStage({ scripts });
		const server = stage.serve("--wire", "--yolo");
		server.initialize();
		server.prompt("begin");
		await server.response("prompt");
		server.endInput();
		await server.exited;
		await expectListed(stage);
	});

	it("of print mode", async () => {
		const stage = createStage({ scripts });
		expect(await stage.run("--print", "--yolo", "-p", "begin")).toMatchObject({ code: 0 });
		await expectListed(stage);
	});

	it("of Meerkat RPC", async () => {
		const stage = createStage({ scripts });
		const server = stage.serveAs(executablePath, "rpc", "--yolo");
		server.request("i", "initialize", {});
		await server.response("i");
		server.request("c", "session/create", { prompt: "begin", enable_builtins: true, enable_shell: true });
		expect(await server.response("c")).not.toHaveProperty("error");
		server.endInput();
		await server.exited;
		await expectListed(stage);
	});
});

describe("a long session", () => {
	it("of thousands of events loads whole", { timeout: 60_000 }, async () => {
		const steps = 20;
		const scripts = Array.from({ length: steps }, (_, step) =>
			Array.from({ length: 25 }, (_unused, n) =>
				toolCall(`c${step}-${n}`, "SetTodoList", { todos: [{ title: `${step}-${n}`, status: "done" }] }),
			).join("\n"),
		);
		const stage = createStage({ scripts: [...scripts, "text: done"] });
		const first = await connect(stage, { flags: ["acp", "--yolo", "--max-steps-per-turn", "200"] });
		const sessionId = await first.open();
		expect(await first.prompt(sessionId, "begin")).toBe("end_turn");
		await first.agent.request("session/close", { sessionId });
		const updates = await loadAnew(stage, sessionId);
		expect(updates.length).toBeGreaterThan(1500);
		const calls = Object.values(callsOf(updates));
		expect(calls).toHaveLength(steps * 25);
		expect(new Set(calls)).toEqual(new Set(["completed"]));
		expect(outlineOf(updates).filter((word) => word === "plan")).toHaveLength(steps * 25);
		expect(messagesOf(updates)).toEqual(["begin", "done"]);
	});
});

describe("the order of a new session", () => {
	it("is the answer, and then whatever is about it", async () => {
		const client = await connect(createStage());
		const sessionId = await client.open();
		await client.received(isUpdate("available_commands_update"));
		const about = client.messages.findIndex((message) => JSON.stringify(message).includes(sessionId));
		expect(client.messages[about]).toMatchObject({ result: { sessionId } });
	});
});
