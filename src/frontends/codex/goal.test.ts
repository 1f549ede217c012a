import { describe, expect, it } from "vitest";
import type { EventBody, TurnOutcome } from "../../api/values/event.ts";
import { ThreadGoal } from "./goal.ts";
import type { GoalChange } from "./wire.ts";

const untouched: GoalChange = { objective: null, status: null };
const event = (body: EventBody, at: number) => ({ sessionId: "T", turnId: "t", agentPath: [], at, body });
const begin = (goal: ThreadGoal, at = 1000) => goal.take(event({ type: "turn.started", input: "x" }, at));
const end = (goal: ThreadGoal, outcome: TurnOutcome = { status: "finished" }, at = 1000) =>
	goal.take(event({ type: "turn.ended", outcome }, at));
const shell = { type: "function", id: "c", function: { name: "Shell", arguments: "{}" }, extras: null } as const;
const act = (goal: ThreadGoal) => goal.take(event({ type: "tool.requested", call: shell }, 1000));
const use = (goal: ThreadGoal, output: number, at = 1000) =>
	goal.take(
		event(
			{
				type: "status.changed",
				context_usage: null,
				context_tokens: null,
				max_context_tokens: null,
				token_usage: { input_other: 1, output, input_cache_read: 100, input_cache_creation: 2 },
				message_id: null,
				plan_mode: null,
				mcp_status: null,
			},
			at,
		),
	);
const failure = (code: "provider-failed" | "budget-exhausted"): TurnOutcome => ({
	status: "failed",
	error: { code, message: "", data: null },
});

function started(change: Partial<GoalChange> = {}): ThreadGoal {
	const goal = new ThreadGoal("T");
	goal.set({ ...untouched, objective: "Win", ...change }, 1000);
	return goal;
}

describe("a goal", () => {
	it("has its objective in the first turn's input, and in the context of every turn", () => {
		const goal = started();
		// The first does not start.
		const inputs = [goal.next(), goal.next()];
		inputs[1]?.begin();
		inputs.push(goal.next());
		expect(inputs.map((turn) => turn?.input)).toEqual(["Goal: Win", "Goal: Win", "Continue with the goal."]);
		for (const turn of inputs) expect(turn?.options.passingContext).toContain("<goal>\nWin\n</goal>");
		goal.set({ ...untouched, objective: "Draw" }, 1000);
		expect(goal.next()?.input).toBe("Goal: Draw");
	});

	it("starts no turn while one runs", () => {
		const goal = started();
		begin(goal);
		expect(goal.next()).toBeNull();
		act(goal);
		end(goal);
		expect(goal.next()).not.toBeNull();
	});

	it("is blocked by two turns in a row without a tool call", () => {
		const goal = started();
		for (const acts of [false, true, false]) {
			begin(goal);
			if (acts) act(goal);
			end(goal);
			expect(goal.current?.status).toBe("active");
		}
		expect(goal.next()?.options.passingContext).toContain("used no tool");
		begin(goal);
		expect(end(goal)).toMatchObject([{ method: "thread/goal/updated", params: { turnId: "t" } }]);
		expect([goal.current?.status, goal.next()]).toEqual(["blocked", null]);
		goal.set({ ...untouched, status: "active" }, 1000);
		begin(goal);
		end(goal);
		expect(goal.current?.status).toBe("active");
	});

	it.each([
		[{ status: "cancelled" }, "paused"],
		[{ status: "finished", stoppedBy: "refusal" }, "paused"],
		[{ status: "finished", stoppedBy: "repetition" }, "blocked"],
		[failure("provider-failed"), "blocked"],
		[failure("budget-exhausted"), "usageLimited"],
		[{ status: "max-steps", limit: "steps", steps: 3 }, "blocked"],
		[{ status: "truncated", reason: "max_tokens" }, "blocked"],
	] satisfies [TurnOutcome, string][])("after a turn that ended with %o is %s", (outcome, status) => {
		const goal = started();
		begin(goal);
		act(goal);
		end(goal, outcome);
		expect(goal.current?.status).toBe(status);
	});

	it("counts the tokens that are not cached, and the seconds of its turns", () => {
		const goal = started();
		begin(goal, 10_000);
		expect(use(goal, 4, 11_000)).toEqual([]);
		act(goal);
		end(goal, { status: "finished" }, 12_500);
		begin(goal, 60_000);
		act(goal);
		end(goal, { status: "finished" }, 60_600);
		expect(goal.current).toMatchObject({ tokensUsed: 7, timeUsedSeconds: 3, createdAt: 1, updatedAt: 60 });
	});

	it("is limited by its budget, which its last turn may exceed", () => {
		const goal = started({ tokenBudget: 5 });
		begin(goal);
		expect(use(goal, 4)).toMatchObject([{ params: { goal: { status: "budgetLimited", tokensUsed: 7 } } }]);
		use(goal, 1);
		end(goal);
		expect([goal.current?.status, goal.current?.tokensUsed, goal.next()]).toEqual(["budgetLimited", 11, null]);
		goal.set({ ...untouched, status: "active" }, 1000);
		expect(goal.current?.status).toBe("budgetLimited");
		goal.set({ ...untouched, status: "active", tokenBudget: null }, 1000);
		expect(goal.current?.status).toBe("active");
	});

	it("can be reached in the turn that uses up its budget", () => {
		const goal = started({ tokenBudget: 1 });
		begin(goal);
		use(goal, 4);
		expect(goal.report('{"status":"complete"}', 1000).result.is_error).toBe(false);
		end(goal);
		expect(goal.current?.status).toBe("complete");
	});

	it("is not changed by turns of the client while it is paused", () => {
		const goal = started({ status: "paused" });
		begin(goal);
		expect([...use(goal, 4), ...end(goal, failure("provider-failed"))]).toEqual([]);
		expect(goal.current).toMatchObject({ status: "paused", tokensUsed: 0 });
	});

	it("takes the model's word only in the right form, and only while it is active", () => {
		const goal = started();
		begin(goal);
		expect(goal.report('{"status":"done"}', 1000)).toMatchObject({ result: { is_error: true }, sent: [] });
		expect(goal.report(null, 1000)).toMatchObject({ result: { is_error: true }, sent: [] });
		expect(goal.report('{"status":"blocked"}', 1000)).toMatchObject({
			result: { is_error: false },
			sent: [{ params: { goal: { status: "blocked" } } }],
		});
		expect(goal.report('{"status":"complete"}', 1000)).toMatchObject({ result: { is_error: true }, sent: [] });
	});

	it("is gone once cleared, and needs an objective to come back", () => {
		const goal = started();
		expect(goal.clear()).toEqual([{ method: "thread/goal/cleared", params: { threadId: "T" } }]);
		expect([goal.clear(), goal.next(), goal.block(1000)]).toEqual([[], null, []]);
		expect(() => goal.set({ ...untouched, status: "active" }, 1000)).toThrow("The thread has no goal.");
	});
});
