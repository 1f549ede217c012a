// What a session came to, next to its conversation.
import { describe, expect, it } from "vitest";
import { statusChanged } from "../src/api/values/event.ts";
import { Totals } from "./totals.ts";

const diff = (path: string, old_text: string, new_text: string) => ({
	type: "diff" as const,
	...{ path, old_text, new_text, old_start: 1, new_start: 1, is_summary: false },
});

describe("totals", () => {
	it("adds up the lines of each changed file", () => {
		const totals = new Totals();
		totals.change([diff("a", "one\n", "one\ntwo\n"), diff("b", "x\n", "y\n")]);
		totals.change([diff("a", "one\ntwo\n", "two\n")]);
		expect([...totals.changes.values()]).toEqual([
			{ path: "a", added: 1, removed: 1 },
			{ path: "b", added: 1, removed: 1 },
		]);
	});

	it("counts the tokens of subagents, and not their context", () => {
		const totals = new Totals();
		const token_usage = { input_other: 5, input_cache_creation: 1, input_cache_read: 7, output: 2 };
		totals.count(statusChanged({ token_usage, context_usage: 0.5, context_tokens: 10, max_context_tokens: 20 }), false);
		totals.count(statusChanged({ token_usage, context_usage: 0.9, context_tokens: 99 }), true);
		expect(totals.used).toEqual({ input: 12, output: 4, cached: 14 });
		expect(totals.context).toEqual({ usage: 0.5, tokens: 10, limit: 20 });
	});

	it("has the last list of what is left to do, and the last warning", () => {
		const totals = new Totals();
		totals.list([{ type: "todo", items: [{ title: "Read", status: "pending" }] }]);
		totals.list([{ type: "brief", text: "nothing of it" }]);
		expect(totals.todo).toEqual([{ title: "Read", status: "pending" }]);
		const words = totals.warn({ type: "budget.warning", budget: "tool-calls", scope: "turn", used: 4, limit: 5 });
		expect([words, totals.budget]).toEqual(Array(2).fill("80 % of the turn's tool-calls budget is used"));
	});
});
