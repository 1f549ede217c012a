// Subagents over the real executable: as the published client of Kimi Wire sees them, over several processes, and
// when the process is killed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { lastOf } from "../support/executable/running-server.ts";
import { answering, openSession, payloadsOf, run, shellCall } from "../support/executable/sdk-client.ts";

const id = "11111111-2222-4333-8444-555555555555";
const report = `text: ${"All of it is as it should be, and nothing was changed. ".repeat(5)}`;
const agentCall = (callId: string, more: object = {}) =>
	toolCall(callId, "Agent", { description: "a task", prompt: "Do it", ...more });

const agentIds = (stage: Stage) => readdirSync(path.join(stage.sessionDir(id), "subagents"));
const agentFile = (stage: Stage, agentId: string, name: string) =>
	readFileSync(path.join(stage.sessionDir(id), "subagents", agentId, name), "utf8");
const statusOf = (stage: Stage, agentId: string): unknown => JSON.parse(agentFile(stage, agentId, "meta.json")).status;

/** The events inside, of one call. */
function inside(payloads: readonly unknown[], parent: string) {
	return payloads.flatMap((payload) => {
		const { parent_tool_call_id, event } = payload as { parent_tool_call_id: string; event: { type: string } };
		return parent_tool_call_id === parent ? [event.type] : [];
	});
}

describe("the published client", () => {
	it("answers an approval inside a subagent", async () => {
		const scripts = [agentCall("P"), shellCall("s1", "echo ran"), report, "text: over"];
		const stage = createStage({ scripts });
		const turn = openSession(stage, { sessionId: id }).prompt("hi");
		const { events, result } = await run(turn, answering(turn, "approve"));
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "ApprovalRequest")).toMatchObject([{ sender: "Shell", tool_call_id: "s1" }]);
		expect(inside(payloadsOf(events, "SubagentEvent"), "P")).toEqual([
			"TurnBegin",
			"StepBegin",
			"ToolCall",
			"StatusUpdate",
			"ToolResult",
			"StepBegin",
			"ContentPart",
			"StatusUpdate",
			"TurnEnd",
		]);
		expect(payloadsOf(events, "ToolResult")).toMatchObject([{ tool_call_id: "P", return_value: { is_error: false } }]);
		const [agentId = ""] = agentIds(stage);
		expect(statusOf(stage, agentId)).toBe("idle");
		expect(agentFile(stage, agentId, "prompt.txt")).toBe("Do it");
	});

	it("sees two at once, each whole", async () => {
		const scripts = [`${agentCall("P")}\n${agentCall("Q", { prompt: "And this" })}`, report, report, "text: over"];
		const { events, result } = await run(openSession(createStage({ scripts })).prompt("hi"));
		expect(result).toEqual({ status: "finished" });
		const payloads = payloadsOf(events, "SubagentEvent");
		const plain = ["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd"];
		expect([inside(payloads, "P"), inside(payloads, "Q")]).toEqual([plain, plain]);
		expect(payloadsOf(events, "ToolResult")).toHaveLength(2);
	});
});

describe("a session with a subagent", () => {
	it("goes on in a new process, and so does the subagent", async () => {
		const stage = createStage({ scripts: [agentCall("P"), report, "text: over"] });
		const first = stage.serve("--wire", "--session", id);
		first.prompt("hi");
		expect(await first.response("prompt")).toMatchObject({ result: { status: "finished" } });
		first.endInput();
		expect(await first.exited).toBe(0);
		const [agentId = ""] = agentIds(stage);

		stage.setScripts([agentCall("Q", { resume: agentId, prompt: "And now" }), report, "text: over"]);
		const second = stage.serve("--wire", "--session", id);
		second.prompt("more");
		const lines = await second.readUntil((line) => line.id === "prompt");
		expect(lastOf(lines).result).toEqual({ status: "finished" });
		const results = lines.flatMap(({ params }) => (params?.type === "ToolResult" ? [params.payload] : []));
		expect(results).toMatchObject([
			{ tool_call_id: "Q", return_value: { output: expect.stringContaining(`agent_id: ${agentId}\nresumed: true\n`) } },
		]);
		second.request("replay", "replay");
		const replayed = await second.readUntil((line) => line.id === "replay");
		expect(lastOf(replayed).result).toEqual({ status: "finished", events: 28, requests: 0 });
		second.endInput();
		expect(await second.exited).toBe(0);
		expect(agentIds(stage)).toEqual([agentId]);
		const roles = agentFile(stage, agentId, "context.jsonl")
			.split("\n")
			.flatMap((line) => (line === "" ? [] : JSON.parse(line).role))
			.filter((role) => !role.startsWith("_"));
		expect(roles).toEqual(["user", "assistant", "user", "assistant"]);
		expect(
			agentFile(stage, agentId, "wire.jsonl")
				.split("\n")
				.filter((line) => line.includes("TurnEnd")),
		).toHaveLength(2);
	});

	it("killed inside a command of it says that the outcome is unknown, runs nothing again, and can resume it", async () => {
		const command = "echo ran >> file; sleep 1000";
		const stage = createStage({ scripts: [agentCall("P"), shellCall("s1", command)] });
		const first = stage.serve("--wire", "--yolo", "--session", id);
		first.prompt("hi");
		const file = path.join(stage.workDir, "file");
		while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
		first.kill("SIGKILL");
		await first.exited;
		const [agentId = ""] = agentIds(stage);
		expect(statusOf(stage, agentId)).toBe("running_foreground");

		stage.setScripts([agentCall("Q", { resume: agentId }), report, "text: over"]);
		const second = stage.serve("--wire", "--yolo", "--session", id);
		second.prompt("go on");
		const lines = await second.readUntil((line) => line.id === "prompt");
		expect(lastOf(lines).result).toEqual({ status: "finished" });
		const texts = lines.flatMap(({ params }) => (params?.type === "ContentPart" ? [params.payload["text"]] : []));
		expect(texts[0]).toContain("`Shell`");
		expect(readFileSync(file, "utf8")).toBe("ran\n");
		expect(statusOf(stage, agentId)).toBe("idle");
		second.endInput();
		expect(await second.exited).toBe(0);
		expect(stage.commands()).toEqual([]);
	});

	it("cancelled marks it as killed, and its command is gone", async () => {
		const stage = createStage({ scripts: [agentCall("P"), shellCall("s1", "touch started; sleep 1000")] });
		const server = stage.serve("--wire", "--yolo", "--session", id);
		server.prompt("hi");
		while (!existsSync(path.join(stage.workDir, "started"))) await new Promise((resolve) => setTimeout(resolve, 10));
		server.request("cancel", "cancel");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "cancelled" } });
		const [agentId = ""] = agentIds(stage);
		expect(statusOf(stage, agentId)).toBe("killed");
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(stage.commands()).toEqual([]);
	});
});
