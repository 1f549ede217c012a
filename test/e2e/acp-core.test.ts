// The core cases of a conformance profile for clients of the Agent Client Protocol (acp-core-v1 of acpx), written from its
// description. Its commands for a mock agent are what the scripted model does here.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { connectAcp, isPermission, isUpdate, never, textOf } from "../support/executable/acp-client.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";

const read = toolCall("c1", "ReadFile", { path: "note.txt" });
const write = toolCall("c1", "WriteFile", { path: "made.txt", content: "hello" });

async function begin(scripts: readonly string[], decision: "approve" | "reject" | "wait" = "approve") {
	const stage = createStage({ scripts });
	writeFileSync(path.join(stage.workDir, "note.txt"), "a note");
	const decide = () => (decision === "wait" ? never() : ({ outcome: "selected", optionId: decision } as const));
	const client = connectAcp(stage, { decide });
	const initialized = await client.initialize();
	const sessionId = await client.open();
	const made = path.join(stage.workDir, "made.txt");
	return { stage, client, initialized, sessionId, made, prompt: (text: string) => client.prompt(sessionId, text) };
}

describe("the core profile", () => {
	it("initialize.handshake, session.new.basic", async () => {
		const { initialized, sessionId } = await begin([]);
		expect(initialized.protocolVersion).toBe(1);
		expect(initialized.agentCapabilities).toBeTypeOf("object");
		expect(sessionId).not.toBe("");
	});

	it("session.prompt.single_turn, session.update.termination", async () => {
		const { client, sessionId, prompt } = await begin(["text: hello"]);
		expect(await prompt("echo hello")).toBe("end_turn");
		expect(textOf(client.updates(sessionId), "agent_message_chunk")).toBe("hello");
		const abouts = client.messages.filter(({ method }) => method === "session/update");
		expect(abouts.every(({ params }) => JSON.stringify(params).includes(sessionId))).toBe(true);
	});

	it("session.prompt.multi_turn, session.prompt.unrecognized", async () => {
		const { client, sessionId, prompt } = await begin(["text: one"]);
		expect([await prompt("one"), await prompt("/no-such-command")]).toEqual(["end_turn", "end_turn"]);
		expect(textOf(client.updates(sessionId), "agent_message_chunk")).toBe(
			'oneUnknown slash command "/no-such-command".',
		);
	});

	it("session.prompt.echo_empty", async () => {
		const { prompt } = await begin(["text: nothing"]);
		expect(await prompt("")).toBe("end_turn");
	});

	it("session.prompt.structured_blocks", async () => {
		const { client, sessionId } = await begin(["text: seen"]);
		const prompt = [
			{ type: "text" as const, text: "see" },
			{ type: "resource_link" as const, uri: "file:///note.txt", name: "note.txt" },
		];
		expect(await client.agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
	});

	it("session.prompt.background_completion, session.cancel.in_flight, session.cancel.followup_prompt", async () => {
		const { client, sessionId, prompt } = await begin([write, "text: after"], "wait");
		const running = prompt("write");
		await client.received(isPermission);
		await client.cancel(sessionId);
		expect(await running).toBe("cancelled");
		expect(await prompt("go on")).toBe("end_turn");
		expect(textOf(client.updates(sessionId), "agent_message_chunk")).toBe("after");
	});

	it("session.cancel.idle", async () => {
		const { client, sessionId, prompt } = await begin(["text: fine"]);
		await client.cancel(sessionId);
		expect(await prompt("hi")).toBe("end_turn");
	});

	it("errors.invalid_params, errors.invalid_params.cwd_null, errors.invalid_prompt_session_type, errors.unknown_session", async () => {
		const { client } = await begin([]);
		const refused = (method: string, params: object, code: number) =>
			expect(client.agent.request<unknown, object>(method, params)).rejects.toMatchObject({ code });
		const prompt = [{ type: "text", text: "hi" }];
		await refused("session/new", {}, -32_602);
		await refused("session/new", { cwd: null, mcpServers: [] }, -32_602);
		await refused("session/prompt", { sessionId: 7, prompt }, -32_602);
		await refused("session/prompt", { sessionId: "unknown", prompt }, -32_002);
	});

	it("permissions.read.approved", async () => {
		const { client, sessionId, prompt } = await begin([read, "text: read"]);
		expect(await prompt("read")).toBe("end_turn");
		expect(JSON.stringify(client.updates(sessionId))).toContain("a note");
	});

	it("permissions.write.approved", async () => {
		const { made, prompt } = await begin([write, "text: wrote"]);
		expect(await prompt("write")).toBe("end_turn");
		expect(readFileSync(made, "utf8")).toBe("hello");
	});

	it.each([
		["errors.permission_denied", toolCall("c1", "Shell", { command: "touch made.txt" })],
		["errors.permission_denied.write", write],
	])("%s", async (_case, script) => {
		const { client, made, prompt } = await begin([script, "text: no"], "reject");
		expect(await prompt("do")).toBe("end_turn");
		expect(existsSync(made)).toBe(false);
		await client.received(isUpdate("tool_call_update", "failed"));
	});
});
