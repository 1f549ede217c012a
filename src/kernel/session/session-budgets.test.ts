import { describe, expect, it } from "vitest";
import { toolCall } from "../../../test/support/models/model-conversation.ts";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	parts,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { untilTasksEnd } from "../../../test/support/sessions/background-work.ts";
import { noLimits } from "../../../test/support/sessions/session-doubles.ts";
import { type ClientDouble, createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createSubagentSubject, longReport } from "../../../test/support/sessions/subagent-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble, type SessionDouble } from "../../../test/support/store/failing-session.ts";
import type { EventBody } from "../../api/values/event.ts";
import type { Model } from "../../core/models/model.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { BudgetLimits } from "../budgets/budgets.ts";

type Scopes = { readonly [S in "session" | "turn"]?: Partial<BudgetLimits["turn"]> };

const budgets = ({ session = {}, turn = {} }: Scopes): BudgetLimits => ({
	session: { ...noLimits, ...session },
	turn: { ...noLimits, ...turn },
	warningRatio: 0.8,
});
const start = (input = "hi") => ({ type: "turn.start", input }) as const;
/** Ten tokens, with four different counts. */
const ten = { input_other: 4, output: 3, input_cache_read: 2, input_cache_creation: 1 };
const tool = () => createToolDouble("E", { hasEffect: true });
const callOnce = (id: string): ModelScript => [call(id, "E"), done(ten)];
const answer: ModelScript = [say("so"), done(ten)];

const warnings = (client: ClientDouble) => client.bodies.filter(({ type }) => type === "budget.warning");
const resultsOf = (bodies: readonly EventBody[]) =>
	bodies.flatMap((body) => (body.type === "tool.result" ? [[body.toolCallId, body.result.is_error]] : []));

async function createSubject(model: Model, scopes: Scopes, double?: SessionDouble) {
	const subject = await createSessionSubject(model, [tool()], { budgets: budgets(scopes) }, double);
	const client = subject.attach();
	const run = async (input?: string) => {
		await subject.session.send(start(input));
		return (await client.next("turn.ended")).outcome;
	};
	return { ...subject, client, run };
}

const spent = (data: object) => ({
	status: "failed",
	error: { code: "budget-exhausted", message: expect.stringContaining("used up"), data },
});

describe("a budget of tokens", () => {
	it.each(["session", "turn"] as const)("of the %s warns, and ends the turn between steps", async (scope) => {
		const model = createScriptedModel([callOnce("a"), callOnce("b"), answer]);
		const { client, run } = await createSubject(model, { [scope]: { tokens: 20 } });
		const state = { budget: "tokens", scope, used: 20, limit: 20 };
		expect(await run()).toEqual(spent(state));
		expect(model.requests).toHaveLength(2);
		expect(warnings(client)).toEqual([{ type: "budget.warning", ...state }]);
		// The step is complete: both calls have results, and no step is interrupted.
		expect(resultsOf(client.bodies)).toEqual([
			["a", false],
			["b", false],
		]);
		expect(client.bodies.map(({ type }) => type)).not.toContain("step.interrupted");
	});

	it("warns before the end, while some of it is left", async () => {
		const model = createScriptedModel([callOnce("a"), callOnce("b"), callOnce("c"), callOnce("d"), answer]);
		const { client, run } = await createSubject(model, { turn: { tokens: 50 } });
		expect(await run()).toEqual({ status: "finished" });
		expect(warnings(client)).toEqual([
			{ type: "budget.warning", budget: "tokens", scope: "turn", used: 40, limit: 50 },
		]);
	});

	it("preserves a complete answer", async () => {
		const { client, run } = await createSubject(createScriptedModel([answer, answer]), { session: { tokens: 10 } });
		expect(await run()).toEqual({ status: "finished" });
		expect(warnings(client)).toHaveLength(1);
		expect(await run()).toMatchObject({ status: "failed" });
	});

	it("of the turn starts anew in each turn, that of the session does not", async () => {
		const model = createScriptedModel([answer, answer, answer]);
		const { run } = await createSubject(model, { turn: { tokens: 11 }, session: { tokens: 25 } });
		expect([await run(), await run(), await run()]).toEqual(Array(3).fill({ status: "finished" }));
		expect(await run()).toEqual(spent({ budget: "tokens", scope: "session", used: 30, limit: 25 }));
	});

	it("does not count requests without reported usage", async () => {
		const model = createScriptedModel([[call("a", "E"), done()], answer]);
		const { run } = await createSubject(model, { turn: { tokens: 1 } });
		expect(await run()).toEqual({ status: "finished" });
	});
});

describe("a budget of tool calls", () => {
	it.each(["session", "turn"] as const)("of the %s refuses calls above it", async (scope) => {
		const three = parts(...["a", "b", "c"].map((id) => toolCall(id, "E", JSON.stringify({ id }))));
		const model = createScriptedModel([[three, done()], answer]);
		const { client, run, double } = await createSubject(model, { [scope]: { "tool-calls": 2 } });
		const state = { budget: "tool-calls", scope, used: 2, limit: 2 };
		expect(await run()).toEqual(spent(state));
		expect(warnings(client)).toEqual([{ type: "budget.warning", ...state }]);
		expect(resultsOf(client.bodies).sort()).toEqual([
			["a", false],
			["b", false],
			["c", true],
		]);
		const refused = client.bodies.find((body) => body.type === "tool.result" && body.toolCallId === "c");
		expect(refused).toMatchObject({ result: { message: expect.stringContaining("not run") } });
		expect(double.writes.filter((write) => write === "tool.started")).toHaveLength(2);
		expect(model.requests).toHaveLength(1);
	});

	it("does not count calls of unknown tools", async () => {
		const model = createScriptedModel([[call("a", "Nothing"), done()], [call("b", "E"), done()], answer]);
		const { run } = await createSubject(model, { turn: { "tool-calls": 2 } });
		expect(await run()).toEqual({ status: "finished" });
	});
});

describe("a budget of time", () => {
	it.each(["session", "turn"] as const)("of the %s warns, then ends the running turn", async (scope) => {
		const gate = createModelGate();
		const { client, session, clock } = await createSubject(createScriptedModel([[say("a"), gate, done()]]), {
			[scope]: { time: 10_000 },
		});
		await session.send(start());
		await gate.reached;
		clock.advance(7999);
		expect(warnings(client)).toEqual([]);
		clock.advance(1);
		const warned = await client.next("budget.warning");
		expect(warned).toEqual({ type: "budget.warning", budget: "time", scope, used: 8, limit: 10 });
		clock.advance(2000);
		expect((await client.next("turn.ended")).outcome).toEqual(spent({ budget: "time", scope, used: 10, limit: 10 }));
		expect(warnings(client)).toHaveLength(1);
		expect(clock.waiting()).toBe(0);
	});

	it("resolves an open interaction", async () => {
		const model = createScriptedModel([[call("c1", "A"), done()]]);
		const asking = createToolDouble("A", { approval: editNeed, hasEffect: true });
		const { session, attach, clock } = await createSessionSubject(model, [asking], {
			budgets: budgets({ turn: { time: 1000 } }),
		});
		const client = attach();
		await session.send(start());
		await client.next("interaction.requested");
		clock.advance(1000);
		expect(await client.next("interaction.resolved")).toMatchObject({ answer: { decision: "reject" } });
		expect((await client.next("turn.ended")).outcome).toMatchObject(spent({ budget: "time" }));
	});

	it("is distinguished from an earlier cancel", async () => {
		const gate = createModelGate();
		const { client, session, clock } = await createSubject(createScriptedModel([[gate, done()]]), {
			turn: { time: 1000 },
		});
		await session.send(start());
		await gate.reached;
		await session.send({ type: "turn.cancel" });
		clock.advance(1000);
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "cancelled" });
	});

	it("is metered only while a turn runs", async () => {
		const model = createScriptedModel([answer, answer]);
		const { run, clock, client } = await createSubject(model, { session: { time: 1000 } });
		expect(await run()).toEqual({ status: "finished" });
		clock.advance(5000);
		expect(await run()).toEqual({ status: "finished" });
		expect([warnings(client), clock.waiting()]).toEqual([[], 0]);
	});
});

describe("a session with an exhausted budget", () => {
	const exhausted = { session: { tokens: 10 } };

	it("ends each turn before its first step, persists the input, and still runs commands", async () => {
		const model = createScriptedModel([answer]);
		const store = createMemoryStore();
		const { client, run } = await createSubject(model, exhausted, await createSessionDouble(store));
		await run();
		const before = client.bodies.length;
		expect(await run("more")).toEqual(spent({ budget: "tokens", scope: "session", used: 10, limit: 10 }));
		expect(client.bodies.slice(before).map(({ type }) => type)).toEqual(["turn.started", "turn.ended"]);
		expect(JSON.stringify((await createSessionDouble(store)).stored.contextRows)).toContain("more");
		expect(await run("/yolo")).toEqual({ status: "finished" });
		expect(await run("/compact")).toEqual(spent({ budget: "tokens", scope: "session", used: 10, limit: 10 }));
		expect(model.requests).toHaveLength(1);
	});

	it("meters a side question with its own turn, and fails the next", async () => {
		const model = createScriptedModel([answer, answer]);
		const { client, run } = await createSubject(model, { session: { tokens: 15 }, turn: { tokens: 10 } });
		expect(await run("/btw why?")).toEqual({ status: "finished" });
		expect(warnings(client)).toEqual([
			{ type: "budget.warning", budget: "tokens", scope: "turn", used: 10, limit: 10 },
		]);
		expect(await run("/btw why?")).toEqual({ status: "finished" });
		expect(await run("/btw why?")).toEqual(spent({ budget: "tokens", scope: "session", used: 20, limit: 15 }));
		expect(model.requests).toHaveLength(2);
	});

	it("answers no side question", async () => {
		const model = createScriptedModel([answer]);
		const { client, session, run } = await createSubject(model, exhausted);
		await run();
		await session.send({ type: "side-question.start", question: "why?" });
		expect(await client.next("side-question.ended")).toMatchObject({
			response: null,
			error: expect.stringContaining("used up"),
		});
	});
});

describe("usage", () => {
	it("is restored when the session is reopened, as far as it was persisted", async () => {
		const store = createMemoryStore();
		const limits = { session: { tokens: 35, time: 10_000, "tool-calls": 3 } };
		const first = await createSubject(
			createScriptedModel([callOnce("a"), answer]),
			limits,
			await createSessionDouble(store),
		);
		expect(await first.run()).toEqual({ status: "finished" });

		const second = await createSubject(createScriptedModel([answer]), limits, await createSessionDouble(store));
		expect(second.double.stored.summary.used).toEqual({ tokens: 20, milliseconds: 0, toolCalls: 1 });
		expect(await second.run()).toEqual({ status: "finished" });
		expect(warnings(second.client)).toEqual([
			{ type: "budget.warning", budget: "tokens", scope: "session", used: 30, limit: 35 },
		]);

		const third = await createSubject(createScriptedModel([answer]), limits, await createSessionDouble(store));
		expect(await third.run()).toEqual({ status: "finished" });
		// The warning was delivered in the previous process.
		expect(warnings(third.client)).toEqual([]);

		const fourth = await createSubject(createScriptedModel([]), limits, await createSessionDouble(store));
		expect(await fourth.run()).toEqual(spent({ budget: "tokens", scope: "session", used: 40, limit: 35 }));
		const raised = await createSubject(
			createScriptedModel([answer]),
			{ session: { tokens: 100 } },
			await createSessionDouble(store),
		);
		expect(await raised.run()).toEqual({ status: "finished" });
	});

	it("is persisted with every step, so that a crash loses only the running one", async () => {
		const store = createMemoryStore();
		const gate = createModelGate();
		const { session } = await createSubject(
			createScriptedModel([callOnce("a"), [gate, done(ten)]]),
			{ session: { tokens: 1000 } },
			await createSessionDouble(store),
		);
		await session.send(start());
		await gate.reached;
		const { stored } = await createSessionDouble(store);
		expect(stored.summary.used).toEqual({ tokens: 10, milliseconds: 0, toolCalls: 1 });
	});

	it("is persisted with the end of an interrupted turn", async () => {
		const store = createMemoryStore();
		const gate = createModelGate();
		const { session, client, clock } = await createSubject(
			createScriptedModel([[gate, done(ten)]]),
			{ session: { time: 60_000 } },
			await createSessionDouble(store),
		);
		await session.send(start());
		await gate.reached;
		clock.advance(1500);
		await session.send({ type: "turn.cancel" });
		await client.next("turn.ended");
		expect((await createSessionDouble(store)).stored.summary.used).toEqual({
			tokens: 0,
			milliseconds: 1500,
			toolCalls: 0,
		});
	});

	it("is not persisted without a budget of the session", async () => {
		const { run, double } = await createSubject(createScriptedModel([answer]), { turn: { tokens: 1000 } });
		await run();
		expect(double.writes).not.toContain("used");
	});

	it("includes side questions and compaction", async () => {
		const model = createScriptedModel([answer, answer, answer, answer]);
		const store = createMemoryStore();
		const limits = { session: { tokens: 1000 } };
		const { session, client, run } = await createSubject(model, limits, await createSessionDouble(store));
		await run();
		await run();
		await session.send({ type: "side-question.start", question: "why?" });
		await client.next("side-question.ended");
		expect(await run("/compact")).toEqual({ status: "finished" });
		expect(model.requests).toHaveLength(4);
		expect((await createSessionDouble(store)).stored.summary.used).toMatchObject({ tokens: 40 });
	});
});

describe("subagents", () => {
	const agentCall = (id: string, more: object = {}) =>
		call(id, "Agent", JSON.stringify({ description: "look", prompt: "Look.", ...more }));

	it("are metered for session and turn of their caller, and end like it", async () => {
		const model = createScriptedModel([
			[agentCall("a"), done(ten)],
			callOnce("b"),
			[say(longReport), done(ten)],
			answer,
		]);
		const subject = await createSubagentSubject(model, {
			tool: tool(),
			parts: { budgets: budgets({ turn: { tokens: 20 }, session: { "tool-calls": 5 } }) },
		});
		const results = await subject.run();
		expect(results["a"]).toMatchObject({
			is_error: true,
			message: expect.stringContaining("used up its budget of 20"),
		});
		expect(model.requests).toHaveLength(2);
		const [ended] = subject.events.filter(
			({ body, agentPath }) => body.type === "turn.ended" && agentPath.length === 0,
		);
		expect(ended?.body).toMatchObject({ outcome: spent({ budget: "tokens", scope: "turn", used: 20, limit: 20 }) });
		expect(subject.events.filter(({ body }) => body.type === "budget.warning")).toMatchObject([{ agentPath: [] }]);
	});

	it("are metered in the background for the session alone, and end at their next step", async () => {
		const small = createScriptedModel([callOnce("b"), callOnce("c"), [say(longReport), done(ten)]]);
		const background = { subagent_type: "small", run_in_background: true };
		const model = createScriptedModel([[agentCall("a", background), done(ten)], answer, answer]);
		const store = createMemoryStore();
		const subject = await createSubagentSubject(model, {
			models: { small },
			tool: tool(),
			double: await createSessionDouble(store),
			parts: { budgets: budgets({ turn: { tokens: 21 }, session: { "tool-calls": 3 } }) },
		});
		await subject.run();
		await untilTasksEnd(subject.session);
		expect(small.requests).toHaveLength(2);
		expect((await createSessionDouble(store)).stored.summary.used).toEqual({
			tokens: 40,
			milliseconds: 0,
			toolCalls: 3,
		});
		const [task] = await subject.double.stored.tasks.list();
		expect(await task?.runtime()).toMatchObject({
			status: "failed",
			failureReason: expect.stringContaining("used up its budget of 3 tool calls"),
		});
		const ended = subject.events.find(({ body, agentPath }) => body.type === "turn.ended" && agentPath.length === 0);
		expect(ended?.body).toEqual({ type: "turn.ended", outcome: { status: "finished" } });
	});
});
