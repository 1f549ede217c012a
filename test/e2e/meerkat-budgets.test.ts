// Budgets that a client of Meerkat RPC gives a session when it makes it.
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { lastOf } from "../support/executable/running-server.ts";
import {
	answer,
	ask,
	create,
	createDeferred,
	end,
	eventsOf,
	serve,
	typesOf,
} from "../support/meerkat/meerkat-lines.ts";

const glob = (id: string) => `${toolCall(id, "Glob", { pattern: `${id}.*` })}\nusage: {"input_other": 8, "output": 1}`;
const exhausted = (details: object) => ({
	code: -32003,
	data: expect.objectContaining({ code: "BUDGET_EXHAUSTED", ...details }),
});

describe("budget_limits", () => {
	it("ends the run that would exceed the session's tokens, and every later one", async () => {
		const server = serve(createStage({ scripts: [glob("a"), glob("b"), "text: never"] }));
		const lines = await ask(server, "1", "session/create", {
			prompt: "go",
			enable_builtins: true,
			budget_limits: { max_tokens: 10 },
		});
		expect(eventsOf(lines).filter(({ type }) => type === "budget_warning")).toEqual([
			{ type: "budget_warning", budget_type: "tokens", used: 9, limit: 10, percent: 0.9 },
		]);
		expect(typesOf(lines).indexOf("budget_warning")).toBeLessThan(typesOf(lines).lastIndexOf("turn_started"));
		expect(typesOf(lines).at(-1)).toBe("run_failed");
		const { error } = lastOf(lines);
		expect(error).toMatchObject(exhausted({ budget: "tokens", scope: "session", used: 18, limit: 10 }));

		const session_id = idOf(error?.data);
		const next = await ask(server, "3", "turn/start", { session_id, prompt: "more" });
		expect(typesOf(next)).toEqual(["run_started", "run_failed"]);
		expect(lastOf(next).error).toMatchObject(exhausted({ scope: "session" }));
		await end(server);
	});

	it("accepts a complete answer that exceeds it, and refuses the next request", async () => {
		const server = serve(createStage({ scripts: ['text: all of it\nusage: {"input_other": 20, "output": 5}'] }));
		const lines = await ask(server, "1", "session/create", { prompt: "go", budget_limits: { max_tokens: 10 } });
		const { result } = lastOf(lines);
		expect(result).toMatchObject({ text: "all of it" });
		expect(typesOf(lines)).toContain("budget_warning");
		const { error } = await answer(server, "2", "turn/start", { session_id: result?.["session_id"], prompt: "more" });
		expect(error).toMatchObject(exhausted({ budget: "tokens", scope: "session" }));
		await end(server);
	});

	it("counts tool calls over all runs of the session", async () => {
		const server = serve(createStage({ scripts: [glob("a"), "text: one", glob("b"), "text: two", glob("c")] }));
		const session_id = await create(server, {
			prompt: "go",
			enable_builtins: true,
			budget_limits: { max_tool_calls: 2 },
		});
		const lines = await ask(server, "2", "turn/start", { session_id, prompt: "more" });
		expect(eventsOf(lines).find(({ type }) => type === "budget_warning")).toMatchObject({
			budget_type: "tool_calls",
			limit: 2,
		});
		expect(lastOf(lines).error).toMatchObject(exhausted({ budget: "tool_calls", scope: "session", limit: 2 }));
		await end(server);
	});

	it.each([["300ms"], [300]])("holds the session to a time of %j", async (max_duration) => {
		const server = serve(createStage({ scripts: [toolCall("a", "Shell", { command: "sleep 30" })] }), "--yolo");
		const lines = await ask(server, "1", "session/create", {
			prompt: "go",
			enable_builtins: true,
			enable_shell: true,
			budget_limits: { max_duration },
		});
		expect(typesOf(lines)).toContain("budget_warning");
		expect(lastOf(lines).error).toMatchObject(exhausted({ budget: "time", scope: "session", limit: 0.3 }));
		await end(server);
	});

	it("replaces the settings, except for what it omits", async () => {
		const stage = createStage({ scripts: [glob("a"), "text: one", glob("b"), "text: two"] });
		const limits = { session_tokens: 1, session_tool_calls: 1 };
		const config = JSON.stringify({ ...JSON.parse(stage.configText), agentwire: { limits } });
		const server = serve(stage, "--config", config);
		const id = await createDeferred(server, { enable_builtins: true, budget_limits: { max_tokens: 1000 } });
		const { error } = await answer(server, "2", "turn/start", { session_id: id, prompt: "go" });
		expect(error).toMatchObject(exhausted({ budget: "tool_calls", limit: 1 }));
		await end(server);
	});

	it("that are wrong are named", async () => {
		const server = serve(createStage());
		const cases: readonly (readonly [unknown, string])[] = [
			[{ max_tokens: 0 }, "max_tokens"],
			[{ max_tokens: 1.5 }, "max_tokens"],
			[{ max_tool_calls: "5" }, "max_tool_calls"],
			[{ max_duration: "soon" }, "max_duration"],
			[{ max_duration: 0 }, "max_duration"],
			[[], "budget_limits"],
		];
		for (const [budget_limits, named] of cases) {
			const { error } = await answer(server, "1", "session/create", { prompt: "go", budget_limits });
			expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(named) });
		}
		await end(server);
	});
});

describe("turn_budget_limits", () => {
	it("limits each run, and starts anew with the next one", async () => {
		const server = serve(createStage({ scripts: [glob("a"), glob("b"), "text: never", "text: fresh"] }));
		const lines = await ask(server, "1", "session/create", {
			prompt: "go",
			enable_builtins: true,
			turn_budget_limits: { max_tokens: 10 },
		});
		const { error } = lastOf(lines);
		expect(error).toMatchObject(exhausted({ budget: "tokens", scope: "turn", used: 18, limit: 10 }));
		const { result } = await answer(server, "2", "turn/start", { session_id: idOf(error?.data), prompt: "more" });
		expect(result).toMatchObject({ text: "never", turns: 1 });
		await end(server);
	});
});

function idOf(data: unknown): string {
	return typeof data === "object" && data !== null && "session_id" in data ? String(data.session_id) : "";
}
