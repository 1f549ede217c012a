// The draft version of the Agent Client Protocol with the client side of the official package, which checks every
// message that it receives.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

type Update = acp.UpdateSessionNotification["update"];

/** Connects the official client; it approves everything, and answers every form with its first choices. */
function connect(stage: Stage, protocol: "2" | "auto") {
	const argv = ["acp", "--acp-protocol", protocol];
	const child = spawn(executablePath, argv, { cwd: stage.workDir, env: stage.environment });
	onTestFinished(() => void child.kill("SIGKILL"));
	const updates: Update[] = [];
	const idleWaiters: ((stopReason: unknown) => void)[] = [];
	const permissions: acp.RequestPermissionRequest[] = [];
	const connection = acp
		.client()
		.onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
			updates.push(update);
			if (update.sessionUpdate !== "state_update" || update.state !== "idle" || !("stopReason" in update)) return;
			idleWaiters.shift()?.(update.stopReason);
		})
		.onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
			permissions.push(params);
			const optionId = params.options[0]?.optionId ?? "";
			return { outcome: { outcome: "selected", optionId } };
		})
		.onRequest(acp.methods.client.elicitation.create, () => ({ action: "accept", content: { q0: "B" } }))
		.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
	const { agent } = connection;
	const prompt = async (sessionId: string, text: string) => {
		const idle = new Promise<unknown>((resolve) => idleWaiters.push(resolve));
		const { messageId } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
		return { messageId, stopReason: await idle };
	};
	const initialize = () =>
		agent.request("initialize", {
			protocolVersion: 2,
			info: { name: "test", version: "1" },
			capabilities: { elicitation: { form: {} } },
		});
	return { agent, updates, permissions, prompt, initialize, child };
}

const kinds = (updates: readonly Update[]) => updates.map(({ sessionUpdate }) => sessionUpdate);

describe("the draft version", () => {
	it.each(["2", "auto"] as const)(
		"serves prompts, permissions, plans and forms with --acp-protocol %s",
		async (protocol) => {
			const stage = createStage({
				scripts: [
					"think: hm\ntext: hello",
					toolCall("c1", "Shell", { command: "echo hi; touch made" }),
					"text: ran",
					toolCall("c2", "SetTodoList", { todos: [{ title: "a", status: "done" }] }),
					"text: planned",
					toolCall("c3", "WriteFile", { path: "f.txt", content: "x\n" }),
					"text: wrote",
					toolCall("c4", "AskUserQuestion", {
						questions: [{ question: "Which?", options: [{ label: "A" }, { label: "B" }] }],
					}),
					"text: asked",
				],
			});
			const client = connect(stage, protocol);
			expect(await client.initialize()).toMatchObject({ protocolVersion: 2, info: { name: "agentwire" } });
			const { sessionId } = await client.agent.request("session/new", { cwd: stage.workDir });
			for (const text of ["one", "two", "three", "four", "five"]) {
				const { messageId, stopReason } = await client.prompt(sessionId, text);
				expect(stopReason).toBe("end_turn");
				expect(client.updates).toContainEqual(
					expect.objectContaining({
						sessionUpdate: "user_message_chunk",
						messageId,
						content: expect.objectContaining({ text }),
					}),
				);
			}
			expect(new Set(kinds(client.updates))).toEqual(
				new Set([
					"available_commands_update",
					"state_update",
					"user_message_chunk",
					"agent_thought_chunk",
					"agent_message_chunk",
					"session_info_update",
					"terminal_update",
					"tool_call_update",
					"terminal_output_chunk",
					"plan_update",
				]),
			);
			expect(client.permissions.map(({ title }) => title)).toEqual(["echo hi; touch made", "Write f.txt"]);
			const option = await client.agent.request("session/set_config_option", {
				sessionId,
				configId: "mode",
				type: "id",
				value: "plan",
			});
			expect(option.configOptions[0]).toMatchObject({ configId: "mode", currentValue: "plan" });
		},
	);

	it("replays a conversation before the state and the answer", async () => {
		const stage = createStage({ scripts: ["text: hello"] });
		const first = connect(stage, "2");
		await first.initialize();
		const { sessionId } = await first.agent.request("session/new", { cwd: stage.workDir });
		await first.prompt(sessionId, "hi");
		await first.agent.request("session/close", { sessionId });
		const second = connect(stage, "2");
		await second.initialize();
		await second.agent.request("session/resume", { sessionId, cwd: stage.workDir, replayFrom: { type: "start" } });
		// The package calls its handlers later than it answers.
		await expect
			.poll(() => kinds(second.updates).slice(0, 3))
			.toEqual(["user_message_chunk", "agent_message_chunk", "state_update"]);
		expect(await second.agent.request("session/list", { cwd: stage.workDir })).toMatchObject({
			sessions: [{ sessionId }],
		});
		await second.agent.request("session/delete", { sessionId });
		expect(await second.agent.request("session/list", {})).toEqual({ sessions: [] });
	});

	it("cancels a turn, and a prompt that waits for it", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "sleep 60" }), "text: never"] });
		const client = connect(stage, "2");
		await client.initialize();
		const { sessionId } = await client.agent.request("session/new", { cwd: stage.workDir });
		await client.agent.request("session/set_config_option", { sessionId, configId: "mode", type: "id", value: "yolo" });
		const running = client.prompt(sessionId, "one");
		await expect.poll(() => JSON.stringify(client.updates)).toContain('"in_progress"');
		const waiting = client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "two" }] });
		// The answer shows that the prompt has arrived as well.
		await client.agent.request("session/list", {});
		const refused = expect(waiting).rejects.toMatchObject({ code: -32800 });
		await client.agent.notify("session/cancel", { sessionId });
		expect((await running).stopReason).toBe("cancelled");
		await refused;
	});

	it("says which version is served to a client of another one", async () => {
		const stage = createStage();
		const server = stage.serve("acp", "--acp-protocol", "2");
		server.request("a", "initialize", { protocolVersion: 1 });
		expect(await server.response("a")).toMatchObject({
			error: { code: -32022, data: { requested: 1, supported: [2] } },
		});
	});
});
