// Hooks as clients of Meerkat RPC hear of them, at every point at which there are any.
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { lastOf, type ServerLine } from "../support/executable/running-server.ts";
import { ask, end, eventsOf, serve, typesOf } from "../support/meerkat/meerkat-lines.ts";

const deny = (reason: string) => `echo '${reason}' >&2; exit 2`;

function withHooks(stage: Stage, ...hooks: readonly object[]): string {
	return JSON.stringify({ ...JSON.parse(stage.configText), hooks });
}

async function runWith(scripts: readonly string[], ...hooks: readonly object[]): Promise<readonly ServerLine[]> {
	const stage = createStage({ scripts });
	const server = serve(stage, "--config", withHooks(stage, ...hooks));
	const lines = await ask(server, "create", "session/create", { prompt: "go", enable_builtins: true });
	await end(server);
	return lines;
}

/** Each event as a word, with the point of a hook or the id of a call. */
const words = (lines: readonly ServerLine[]) =>
	eventsOf(lines).map(({ type, point, id }) => [type, point ?? id].filter((word) => word !== undefined).join(" "));

const twoCalls = [toolCall("a", "Glob", { pattern: "*" }), toolCall("b", "Glob", { pattern: "?" })].join("\n");

describe("hooks", () => {
	it("before tools come after the request for the call, also for several calls at once", async () => {
		const lines = await runWith([twoCalls, "text: done"], { event: "PreToolUse", command: "true" });
		const delivered = words(lines);
		for (const id of ["a", "b"]) {
			expect(delivered.indexOf(`tool_call_requested ${id}`)).toBeLessThan(
				delivered.indexOf("hook_started pre_tool_execution"),
			);
		}
		expect(delivered.filter((word) => word === "hook_started pre_tool_execution")).toHaveLength(2);
		expect(delivered.filter((word) => word === "hook_completed pre_tool_execution")).toHaveLength(2);
		expect(delivered.lastIndexOf("hook_completed pre_tool_execution")).toBeLessThan(
			delivered.indexOf("tool_execution_completed a"),
		);
		expect(lastOf([...lines]).result).toMatchObject({ text: "done", tool_calls: 2 });
	});

	it("before tools that refuse give the call their reason for a result, and the run goes on", async () => {
		const lines = await runWith([twoCalls, "text: done"], {
			event: "PreToolUse",
			command: `grep -q '"b"' && { ${deny("Not this one.")}; }; true`,
		});
		const events = eventsOf(lines);
		expect(events.filter(({ type }) => type === "hook_denied")).toEqual([
			{
				type: "hook_denied",
				hook_id: "PreToolUse",
				point: "pre_tool_execution",
				reason_code: "policy_violation",
				message: "Not this one.",
			},
		]);
		const results = events.filter(({ type }) => type === "tool_execution_completed");
		expect(results.map(({ id, is_error }) => [id, is_error])).toEqual([
			["a", false],
			["b", true],
		]);
		expect(JSON.parse(String(results[1]?.["result"]))).toEqual({
			error: "hook_denied",
			reason_code: "policy_violation",
			message: "Not this one.",
			data: { hook_id: "PreToolUse", point: "pre_tool_execution", reason_code: "policy_violation" },
		});
		expect(lastOf([...lines]).result).toMatchObject({ text: "done", turns: 2, tool_calls: 2 });
	});

	it("after tools change nothing, whatever they answer", async () => {
		const lines = await runWith([toolCall("a", "Glob", { pattern: "*" }), "text: done"], {
			event: "PostToolUse",
			command: deny("Too late."),
		});
		expect(words(lines)).toEqual(
			expect.arrayContaining(["hook_started post_tool_execution", "hook_completed post_tool_execution"]),
		);
		expect(typesOf(lines)).not.toContain("hook_denied");
		expect(lastOf([...lines]).result).toMatchObject({ text: "done" });
	});

	it("at the end of a run that refuse send the model back once, with one end to the run", async () => {
		const lines = await runWith(["text: one", "text: two", "text: never"], {
			event: "Stop",
			command: deny("Look again."),
		});
		expect(words(lines)).toEqual([
			"run_started",
			"turn_started",
			"text_delta",
			"text_complete",
			"turn_completed",
			"hook_started run_completed",
			"hook_completed run_completed",
			"turn_started",
			"text_delta",
			"text_complete",
			"turn_completed",
			"run_completed",
		]);
		expect(lastOf([...lines]).result).toMatchObject({ text: "two", turns: 2 });
	});

	it("of a failed run are reported before its end, and the error stays what it was", async () => {
		const lines = await runWith(["error: 401 no key"], { event: "StopFailure", command: deny("No matter.") });
		expect(words(lines)).toEqual(expect.arrayContaining(["hook_started run_failed", "hook_completed run_failed"]));
		expect(words(lines).at(-1)).toBe("run_failed");
		expect(typesOf(lines).filter((type) => type === "run_failed")).toHaveLength(1);
		expect(lastOf([...lines]).error).toMatchObject({ code: -32002 });
	});
});
