// Questions, plan mode and hooks with the published client of Kimi Wire.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { type HookRegistration, ProtocolClient, type StreamEvent, type Turn } from "@moonshot-ai/kimi-agent-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";
import { openSession, payloadsOf, run, shellCall } from "../support/executable/sdk-client.ts";

/** Answers every question with its answer by the text of the first one. */
const answeringQuestions = (turn: Turn, answers: Readonly<Record<string, string>>) => (event: StreamEvent) => {
	if (event.type !== "QuestionRequest") return;
	const { id, questions } = event.payload;
	const given = Object.fromEntries(
		questions.flatMap(({ question }: { readonly question: string }) => {
			const answer = answers[question];
			return answer === undefined ? [] : [[question, answer] as const];
		}),
	);
	return turn.respondQuestion(id, id, given);
};

const resultsOf = (events: readonly StreamEvent[]) =>
	payloadsOf(events, "ToolResult") as { return_value: { is_error: boolean; output: string; message: string } }[];
const planModes = (events: readonly StreamEvent[]) =>
	events.flatMap((event) => (event.type === "StatusUpdate" ? [event.payload.plan_mode] : []));

describe("questions", () => {
	const options = [{ label: "pg" }, { label: "sqlite" }];
	const scripts = [
		toolCall("c1", "AskUserQuestion", { questions: [{ question: "Which DB?", options }] }),
		"text: done",
	];

	it("are answered", async () => {
		const turn = openSession(createStage({ scripts })).prompt("hi");
		const { events, result } = await run(turn, answeringQuestions(turn, { "Which DB?": "pg" }));
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "QuestionRequest")).toMatchObject([
			{ tool_call_id: "c1", questions: [{ question: "Which DB?", header: "", multi_select: false }] },
		]);
		expect(resultsOf(events)).toMatchObject([
			{ return_value: { is_error: false, output: '{"answers": {"Which DB?": "pg"}}', message: "User has answered." } },
		]);
	});

	it("are dismissed", async () => {
		const turn = openSession(createStage({ scripts })).prompt("hi");
		const { events, result } = await run(turn, answeringQuestions(turn, {}));
		expect(result).toEqual({ status: "finished" });
		expect(resultsOf(events)).toMatchObject([
			{
				return_value: {
					is_error: false,
					output: '{"answers": {}, "note": "User dismissed the question without answering."}',
				},
			},
		]);
	});
});

describe("plan mode", () => {
	/** The plan file of the session, which its state names. */
	const planFile = (stage: Stage, sessionId: string): string => {
		const state: { plan_slug: string } = JSON.parse(
			readFileSync(path.join(stage.sessionDir(sessionId), "state.json"), "utf8"),
		);
		return path.join(stage.shareDir, "plans", `${state.plan_slug}.md`);
	};

	it("is entered, outlives a restart, keeps edits to the plan file and is left with approval", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "EnterPlanMode", {}), "text: planning"] });
		const first = openSession(stage);
		const entering = first.prompt("plan it");
		const entered = await run(entering, answeringQuestions(entering, { "Enter plan mode?": "Yes" }));
		expect(resultsOf(entered.events)).toMatchObject([{ return_value: { message: "Plan mode on" } }]);
		expect(planModes(entered.events)).toEqual([false, true, true]);
		const file = planFile(stage, first.sessionId);
		await first.close();

		stage.setScripts([
			toolCall("c2", "WriteFile", { path: "code.txt", content: "x" }),
			toolCall("c3", "WriteFile", { path: file, content: "# Plan\n" }),
			toolCall("c4", "ExitPlanMode", {}),
			"text: done",
		]);
		const second = openSession(stage, { sessionId: first.sessionId });
		const detaching = second.prompt("go on");
		const left = await run(detaching, answeringQuestions(detaching, { "Approve this plan": "Approve" }), [
			"PlanDisplay",
		]);
		expect(left.result).toEqual({ status: "finished" });
		expect(left.types).not.toContain("ApprovalRequest");
		expect(resultsOf(left.events).map(({ return_value }) => return_value.is_error)).toEqual([true, false, false]);
		expect(resultsOf(left.events).at(-1)?.return_value.output).toContain("# Plan");
		expect(planModes(left.events)).toEqual([true, true, true, false, false]);
		expect([existsSync(path.join(stage.workDir, "code.txt")), readFileSync(file, "utf8")]).toEqual([false, "# Plan\n"]);
	});

	it("is switched by the client", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const session = openSession(stage);
		expect(planModes((await run(session.prompt("hi"))).events)).toEqual([false]);
		expect([await session.setPlanMode(true), session.planMode]).toEqual([true, true]);
		expect(planModes((await run(session.prompt("more"))).events)).toEqual([true]);
		expect([await session.setPlanMode(false), session.planMode]).toEqual([false, false]);
	});
});

describe("hooks of the client", () => {
	/** Runs one turn over a client with these hooks; approvals are given. */
	async function turnWith(stage: Stage, hooks: HookRegistration[]) {
		const client = new ProtocolClient();
		onTestFinished(() => client.stop());
		const greeting = await client.start({
			workDir: stage.workDir,
			executablePath,
			environmentVariables: { ...stage.environment },
			yoloMode: true,
			hooks,
		});
		const { events, result } = client.sendPrompt("hi");
		const seen: StreamEvent[] = [];
		for await (const event of events) seen.push(event);
		return { greeting, events: seen, result: await result };
	}

	const scripts = [shellCall("c1", "echo ran > file"), "text: done"];
	const beforeShell = (handler: HookRegistration["handler"], timeout = 30): HookRegistration => ({
		id: "guard",
		event: "PreToolUse",
		matcher: "Shell",
		timeout,
		handler,
	});
	const isRun = (stage: Stage) => existsSync(path.join(stage.workDir, "file"));

	it("block a tool", async () => {
		const stage = createStage({ scripts });
		const inputs: unknown[] = [];
		const guard = beforeShell(async ({ target, input_data }) => {
			inputs.push([target, input_data]);
			return { action: "block", reason: "not today" };
		});
		const { greeting, events, result } = await turnWith(stage, [guard]);
		expect(greeting.hooks).toMatchObject({ configured: { PreToolUse: 1 } });
		expect(result).toEqual({ status: "finished" });
		expect(inputs).toMatchObject([
			["Shell", { hook_event_name: "PreToolUse", cwd: stage.workDir, tool_input: { command: "echo ran > file" } }],
		]);
		expect(resultsOf(events)).toMatchObject([{ return_value: { is_error: true, message: "not today" } }]);
		expect(payloadsOf(events, "HookResolved")).toMatchObject([{ action: "block", reason: "not today" }]);
		expect(isRun(stage)).toBe(false);
	});

	it("allow when they take too long", async () => {
		const stage = createStage({ scripts });
		const { events, result } = await turnWith(stage, [beforeShell(() => new Promise(() => {}), 1)]);
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "HookResolved")).toMatchObject([{ action: "allow" }]);
		expect(isRun(stage)).toBe(true);
	});

	it("allow when they crash", async () => {
		const stage = createStage({ scripts });
		const crash = beforeShell(async () => {
			throw new Error("out of order");
		});
		expect((await turnWith(stage, [crash])).result).toEqual({ status: "finished" });
		expect(isRun(stage)).toBe(true);
	});
});

describe("hooks of the settings", () => {
	const scripts = [shellCall("c1", "echo ran > file"), "text: done"];
	const addHook = (stage: Stage, fields: object) => {
		const lines = Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
		appendFileSync(path.join(stage.shareDir, "config.toml"), `\n[[hooks]]\n${lines.join("\n")}\n`);
	};

	it.each([
		["blocks", { command: "echo not today >&2; exit 2" }, false],
		["crashes", { command: "exit 1" }, true],
		["takes too long", { command: "sleep 1000", timeout: 1 }, true],
		["crashes and fails closed", { command: "exit 1", fail_closed: true }, false],
	])("one that %s", async (_name, fields, runs) => {
		const stage = createStage({ scripts });
		addHook(stage, { event: "PreToolUse", matcher: "^Shell$", ...fields });
		const { events, result } = await run(openSession(stage, { yoloMode: true }).prompt("hi"));
		expect(result).toEqual({ status: "finished" });
		expect(payloadsOf(events, "HookTriggered")).toMatchObject([{ event: "PreToolUse", hook_count: 1 }]);
		expect(payloadsOf(events, "HookResolved")).toMatchObject([{ action: runs ? "allow" : "block" }]);
		expect(resultsOf(events).map(({ return_value }) => return_value.is_error)).toEqual([!runs]);
		expect(existsSync(path.join(stage.workDir, "file"))).toBe(runs);
		expect(stage.commands().filter((command) => command.includes("sleep"))).toEqual([]);
	});
});
