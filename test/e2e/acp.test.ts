// The Agent Client Protocol with the official client, which checks every message: what a session does, what a person is
// asked, and what each answer leads to.
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
	type AcpClientOptions,
	approved,
	connectAcp,
	isUpdate,
	outlineOf,
	textOf,
	type Update,
} from "../support/executable/acp-client.ts";
import { createStage, type StageOptions, toolCall } from "../support/executable/executable.ts";
import { published } from "../support/mcp/mcp-stage.ts";

const shell = (command: string, id = "c1") => toolCall(id, "Shell", { command });

async function createSession(stageOptions: StageOptions, options: AcpClientOptions = {}) {
	const stage = createStage(stageOptions);
	const client = connectAcp(stage, options);
	await client.initialize();
	const sessionId = await client.open();
	await client.received(isUpdate("available_commands_update"));
	const updates = () => client.updates(sessionId).slice(1);
	const made = () => existsSync(path.join(stage.workDir, "made"));
	return { stage, client, sessionId, updates, made, prompt: (text = "hi") => client.prompt(sessionId, text) };
}

/** The updates about calls. */
const callsOf = (updates: readonly Update[]) =>
	outlineOf(updates).filter((word) => word.startsWith("tool_call") && word !== "tool_call_update");

describe("initialize", () => {
	it.each([
		[1, 1],
		[0, 1],
		[3, 1],
		[65_535, 1],
	])("asked for version %i answers version %i", async (protocolVersion, served) => {
		const client = connectAcp(createStage());
		const answer = await client.agent.request("initialize", { protocolVersion });
		expect(answer).toMatchObject({
			protocolVersion: served,
			agentCapabilities: {
				loadSession: true,
				sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
			},
			agentInfo: { name: "agentwire" },
		});
		expect(answer.authMethods?.length).toBeGreaterThan(0);
	});

	it("asked for a version that is a text, as drafts did, answers version 1", async () => {
		const server = createStage().serve("acp");
		server.request("i", "initialize", { protocolVersion: "1" });
		expect(await server.response("i")).toMatchObject({ result: { protocolVersion: 1 } });
	});

	it("offers a sign-in in a terminal to a client that has one", async () => {
		const client = connectAcp(createStage(), { capabilities: { auth: { terminal: true } } });
		expect((await client.initialize()).authMethods).toMatchObject([{ type: "terminal", args: ["login"] }]);
	});
});

describe("a prompt", () => {
	it("streams thoughts and text, each step a message of its own", async () => {
		const { prompt, updates } = await createSession({ scripts: ["think: hm\ntext: hello"] });
		expect(await prompt()).toBe("end_turn");
		expect(outlineOf(updates())).toEqual(["agent_thought_chunk", "agent_message_chunk", "session_info_update"]);
		expect(textOf(updates(), "agent_thought_chunk")).toBe("hm");
		expect(textOf(updates(), "agent_message_chunk")).toBe("hello");
	});

	it("shows a plan", async () => {
		const todos = [
			{ title: "a", status: "done" },
			{ title: "b", status: "in_progress" },
			{ title: "c", status: "pending" },
		];
		const { prompt, updates } = await createSession({ scripts: [toolCall("c", "SetTodoList", { todos }), "text: ok"] });
		expect(await prompt()).toBe("end_turn");
		expect(updates()).toContainEqual({
			sessionUpdate: "plan",
			entries: [
				{ content: "a", priority: "medium", status: "completed" },
				{ content: "b", priority: "medium", status: "in_progress" },
				{ content: "c", priority: "medium", status: "pending" },
			],
		});
	});

	it("reports how full the context is", async () => {
		const { prompt, updates } = await createSession({ scripts: ["usage: input_other=7 output=3\ntext: ok"] });
		await prompt();
		expect(updates()).toContainEqual(expect.objectContaining({ sessionUpdate: "usage_update", size: 100_000 }));
	});

	it("takes every kind of block that is declared", async () => {
		const { client, sessionId } = await createSession({ scripts: ["text: ok"] });
		const prompt = [
			{ type: "text" as const, text: "look at" },
			{ type: "resource_link" as const, uri: "file:///a%20b.ts", name: "a b.ts" },
			{ type: "resource" as const, resource: { uri: "file:///c.ts", text: "const c = 1;" } },
		];
		expect(await client.agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
		await client.load(sessionId);
		expect(textOf(client.updates(sessionId), "user_message_chunk")).toBe(
			'look at[a b.ts](/a b.ts)<resource uri="file:///c.ts">\nconst c = 1;\n</resource>',
		);
	});

	it("fails with the text of the provider, and the session goes on", async () => {
		const { prompt } = await createSession({ scripts: ["no script", "text: fine"] });
		await expect(prompt()).rejects.toMatchObject({
			code: -32_603,
			data: { details: expect.stringContaining("script") },
		});
		expect(await prompt()).toBe("end_turn");
	});

	it("ends at the limit of steps", async () => {
		const scripts = Array.from({ length: 3 }, (_, n) => shell(`echo ${n}`, `c${n}`));
		const { prompt } = await createSession({ scripts }, { flags: ["acp", "--yolo", "--max-steps-per-turn", "2"] });
		expect(await prompt()).toBe("max_turn_requests");
	});

	it("answers a side question while another prompt waits for its permission", async () => {
		const { client, prompt, updates } = await createSession(
			{ scripts: [shell("touch made"), "text: Because.", "text: done"] },
			{
				decide: async (permission) => {
					expect(
						await client.agent.request("session/prompt", {
							sessionId: permission.sessionId,
							prompt: [{ type: "text", text: "/btw why?" }],
						}),
					).toEqual({ stopReason: "end_turn" });
					return approved;
				},
			},
		);
		expect(await prompt()).toBe("end_turn");
		expect(textOf(updates(), "agent_message_chunk")).toBe("Because.done");
	});
});

describe("a permission", () => {
	it("request is complete in itself, and its title is the raw command", async () => {
		const { client, prompt, sessionId } = await createSession({
			scripts: [shell("touch made; echo 'a  b'"), "text: ok"],
		});
		await prompt();
		expect(client.permissions).toMatchObject([
			{
				sessionId,
				toolCall: {
					title: "touch made; echo 'a  b'",
					name: "Shell",
					kind: "execute",
					status: "pending",
					rawInput: { command: "touch made; echo 'a  b'" },
				},
			},
		]);
	});

	it("request of a change shows the file and the change", async () => {
		const write = toolCall("c1", "WriteFile", { path: "made", content: "new\n" });
		const { client, stage, prompt } = await createSession({ scripts: [write, "text: ok"] });
		await prompt();
		const file = path.join(stage.workDir, "made");
		expect(client.permissions).toMatchObject([
			{
				toolCall: {
					kind: "edit",
					locations: [{ path: file }],
					content: [
						{ type: "diff", path: file, oldText: null, newText: "new" },
						{ type: "content", content: { type: "text", text: expect.stringContaining(`Write(${file})`) } },
					],
				},
			},
		]);
	});

	it.each([["approve"], ["approve_once"], ["approve_for_session"], ["approve_always"]])(
		"answered %s runs the call",
		async (optionId) => {
			const { made, prompt, updates } = await createSession(
				{ scripts: [shell("touch made"), "text: ok"] },
				{ decide: () => ({ outcome: "selected", optionId }) },
			);
			expect(await prompt()).toBe("end_turn");
			expect(made()).toBe(true);
			expect(callsOf(updates())).toEqual([
				"tool_call pending",
				"tool_call_update in_progress",
				"tool_call_update completed",
			]);
		},
	);

	it("for the session is not asked for again", async () => {
		const { client, prompt } = await createSession(
			{ scripts: [shell("touch made"), "text: ok", shell("touch made", "c2"), "text: ok"] },
			{ decide: ({ options }) => ({ outcome: "selected", optionId: options[1]?.optionId ?? "" }) },
		);
		await prompt();
		await prompt();
		expect(client.permissions.map(({ options }) => options.map(({ kind }) => kind))).toEqual([
			["allow_once", "allow_always", "reject_once"],
		]);
	});

	it.each([
		["reject", { outcome: "selected" as const, optionId: "reject" }],
		["an option that nobody offered", { outcome: "selected" as const, optionId: "surprise" }],
		["an option named as a property of objects", { outcome: "selected" as const, optionId: "__proto__" }],
		["cancelled", { outcome: "cancelled" as const }],
	])("answered with %s does not run the call, and is no refusal of the model", async (_what, outcome) => {
		const { made, prompt, updates } = await createSession(
			{ scripts: [shell("touch made"), "text: ok"] },
			{ decide: () => outcome },
		);
		expect(await prompt()).toBe("end_turn");
		expect(made()).toBe(false);
		expect(callsOf(updates())).toEqual(["tool_call pending", "tool_call_update failed"]);
	});

	it("answered with an error does not run the call", async () => {
		const { made, prompt } = await createSession(
			{ scripts: [shell("touch made"), "text: ok"] },
			{ decide: () => Promise.reject(new Error("the editor is closing")) },
		);
		expect(await prompt()).toBe("end_turn");
		expect(made()).toBe(false);
	});
});

describe("questions", () => {
	const questions = [
		{ question: "Which?", options: [{ label: "A", description: "first" }, { label: "B" }] },
		{ question: "What else?", options: [{ label: "C" }, { label: "D" }], multi_select: true },
	];
	const scripts = [toolCall("c1", "AskUserQuestion", { questions }), "text: ok"];
	const answerOf = (updates: readonly Update[]) =>
		updates.flatMap((update) =>
			update.sessionUpdate === "tool_call_update" && update.status === "completed" ? [update.rawOutput] : [],
		);

	it.each([
		["accepted", { action: "accept" as const, content: { q0: "B", q1: ["C", "D"] } }, ["B", "C, D"]],
		["accepted in other words", { action: "accept" as const, content: { q0: "A", q0_other: "neither" } }, ["neither"]],
		["declined", { action: "decline" as const }, []],
		["closed", { action: "cancel" as const }, []],
	])("as a form that is %s", async (_what, response, given) => {
		const forms: unknown[] = [];
		const { prompt, updates } = await createSession(
			{ scripts },
			{
				capabilities: { elicitation: { form: {} } },
				fill: (form) => {
					forms.push(form);
					return response;
				},
			},
		);
		expect(await prompt()).toBe("end_turn");
		expect(forms).toMatchObject([{ mode: "form", requestedSchema: { type: "object" } }]);
		for (const text of given) expect(JSON.stringify(answerOf(updates()))).toContain(text);
	});

	it("as a choice for a client without forms", async () => {
		const { client, prompt, updates } = await createSession(
			{ scripts },
			{ decide: ({ options }) => ({ outcome: "selected", optionId: options[1]?.optionId ?? "" }) },
		);
		expect(await prompt()).toBe("end_turn");
		expect(client.permissions[0]?.options.map(({ name }) => name)).toEqual(["A", "B", "Skip"]);
		expect(JSON.stringify(answerOf(updates()))).toContain("B");
	});
});

describe("choices", () => {
	it("of the mode, by either method, are reported and hold", async () => {
		const { client, sessionId, prompt, made } = await createSession({ scripts: [shell("touch made"), "text: ok"] });
		await client.agent.request("session/set_mode", { sessionId, modeId: "plan" });
		await client.received(isUpdate("current_mode_update"));
		const set = { sessionId, configId: "mode", value: "yolo" };
		expect(await client.agent.request("session/set_config_option", set)).toMatchObject({
			configOptions: expect.arrayContaining([expect.objectContaining({ id: "mode", currentValue: "yolo" })]),
		});
		expect(await prompt()).toBe("end_turn");
		expect(client.permissions).toEqual([]);
		expect(made()).toBe(true);
	});

	it("can be made while a permission is open", async () => {
		const { client, prompt } = await createSession(
			{ scripts: [shell("touch made"), shell("touch made2", "c2"), "text: ok"] },
			{
				decide: async ({ sessionId }) => {
					await client.agent.request("session/set_mode", { sessionId, modeId: "yolo" });
					return approved;
				},
			},
		);
		expect(await prompt()).toBe("end_turn");
		expect(client.permissions).toHaveLength(1);
	});
});

describe("two sessions at once", () => {
	it("work each in its directory, and what is sent of one is of that one alone", async () => {
		const {
			client,
			stage,
			sessionId: first,
		} = await createSession(
			// Each session plays the scripts from the first on.
			{ scripts: [shell("pwd; touch made"), "text: ok"] },
			{
				decide: async () => {
					// Both are asked before either is answered.
					await expect.poll(() => client.permissions.length).toBe(2);
					return approved;
				},
			},
		);
		const other = path.join(stage.workDir, "..", "other");
		mkdirSync(other);
		const second = await client.open(realpathSync(other));
		const reasons = await Promise.all([client.prompt(first, "one"), client.prompt(second, "two")]);
		expect(reasons).toEqual(["end_turn", "end_turn"]);
		for (const [id, directory] of [
			[first, stage.workDir],
			[second, realpathSync(other)],
		] as const) {
			expect(existsSync(path.join(directory, "made"))).toBe(true);
			const outputs = client
				.updates(id)
				.flatMap((update) => (update.sessionUpdate === "tool_call_update" ? [String(update.rawOutput ?? "")] : []));
			expect(outputs.join("").trim()).toBe(directory);
		}
		const listed = await client.agent.request("session/list", { cwd: realpathSync(other) });
		expect(listed.sessions.map(({ sessionId }) => sessionId)).toEqual([second]);
	});

	it("have each the MCP servers that it was opened with", async () => {
		const echo = toolCall("c1", "echo", { message: "hello" });
		const { client, stage, prompt, updates } = await createSession({ scripts: [echo, "text: ok", echo, "text: ok"] });
		const everything = {
			name: "everything",
			command: process.execPath,
			args: [published("everything"), "stdio"],
			env: [{ name: "PLACE", value: "here" }],
		};
		const second = await client.open(stage.workDir, [everything]);
		expect(await client.prompt(second, "hi")).toBe("end_turn");
		expect(outlineOf(client.updates(second))).toContain("tool_call_update completed");
		expect(await prompt()).toBe("end_turn");
		expect(outlineOf(updates())).toContain("tool_call_update failed");
	});
});
