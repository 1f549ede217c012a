// The published client of Kimi Wire, unchanged, with this executable in the place of the one it was made for.
import { existsSync } from "node:fs";
import path from "node:path";
import { CliError, type ExternalTool, prompt } from "@moonshot-ai/kimi-agent-sdk";
import { describe, expect, it, vi } from "vitest";
import { createStage, executablePath, toolCall } from "../support/executable/executable.ts";
import { answering, openSession, payloadsOf, plainTurn, run, shellCall } from "../support/executable/sdk-client.ts";

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

	it("to a side question, as a text in a turn", async () => {
		const stage = createStage({ scripts: ["text: Because.", "text: done"] });
		const session = openSession(stage);
		const { result, types, events } = await run(session.prompt("/btw why?"), undefined, ["BtwBegin", "BtwEnd"]);
		expect(result).toEqual({ status: "finished" });
		expect(types.filter((type) => type !== "error")).toEqual(["TurnBegin", "ContentPart", "TurnEnd"]);
		expect(payloadsOf(events, "ContentPart")).toEqual([{ type: "text", text: "Because." }]);
		expect((await run(session.prompt("go on"))).types).toEqual(plainTurn);
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

	it("for the session: requested once, also after a restart", async () => {
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
});
