// Hooks that a client gives a session, over the built executable: at every point, what they get, and what follows.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import type { ServerLine } from "../support/executable/running-server.ts";
import { ask, end, serve } from "../support/meerkat/meerkat-lines.ts";

type Payload = Readonly<Record<string, unknown>>;

const payloads = (lines: readonly ServerLine[]): Payload[] =>
	lines.flatMap((line) => {
		const event = (line.params as { event?: { payload?: Payload } } | undefined)?.event;
		return event?.payload === undefined ? [] : [event.payload];
	});
const words = (lines: readonly ServerLine[]) =>
	payloads(lines).map(({ type, hook_id: id, point }) => (id === undefined ? type : `${type} ${id} ${point}`));

const answering = (answer: object) => ["-c", `cat >/dev/null; echo '${JSON.stringify(answer)}'`];
const command = (...args: string[]) => ({ type: "command", command: "/bin/sh", args });
const denying = (id: string, more: object = {}) =>
	command(
		...answering({
			decision: { decision: "deny", hook_id: id, reason_code: "safety_violation", message: "no way", ...more },
		}),
	);
/** Adds its input to a file, and has nothing to say. */
const noting = (file: string) => command("-c", `cat >> ${file}; echo >> ${file}; echo '{}'`);

async function run(
	stage: Stage,
	entries: readonly object[],
	params: object = {},
): Promise<{ readonly lines: readonly ServerLine[]; readonly last: ServerLine }> {
	const server = serve(stage);
	await ask(server, "capabilities", "capabilities/get", {});
	const lines = await ask(server, "create", "session/create", { prompt: "go", hooks_override: { entries }, ...params });
	await end(server);
	const last = lines.at(-1);
	if (last === undefined) throw new Error("no answer");
	return { lines, last };
}

const everyPoint = [
	"run_started",
	"pre_llm_request",
	"post_llm_response",
	"pre_tool_execution",
	"post_tool_execution",
	"turn_boundary",
	"run_completed",
	"run_failed",
];
const glob = toolCall("c1", "Glob", { pattern: "*" });

describe("hooks of a session", () => {
	it("are consulted at every point of a run, with what happens there", async () => {
		const stage = createStage({ scripts: [glob, "text: done"] });
		const file = path.join(stage.workDir, "noted");
		const { lines, last } = await run(
			stage,
			everyPoint.map((point) => ({ id: point, point, runtime: noting(file) })),
		);
		expect(last.result).toMatchObject({ text: "done" });
		expect(words(lines).filter((word) => String(word).startsWith("hook_started"))).toEqual(
			[
				"run_started",
				"pre_llm_request",
				"post_llm_response",
				"pre_tool_execution",
				"post_tool_execution",
				"turn_boundary",
				"pre_llm_request",
				"post_llm_response",
				"turn_boundary",
				"run_completed",
			].map((point) => `hook_started ${point} ${point}`),
		);
		expect(words(lines).slice(0, 3)).toEqual([
			"hook_started run_started run_started",
			"hook_completed run_started run_started",
			"run_started",
		]);
		const inputs: readonly Payload[] = readFileSync(file, "utf8")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(inputs[0]).toEqual({
			point: "run_started",
			session_id: expect.any(String),
			prompt_input: { kind: "content", content: "go" },
			prompt: "go",
		});
		expect(inputs.slice(1)).toMatchObject([
			{ point: "pre_llm_request", turn_number: 0, llm_request: { message_count: expect.any(Number) } },
			{
				point: "post_llm_response",
				turn_number: 0,
				llm_response: { assistant_text: "", tool_call_names: ["Glob"], stop_reason: "tool_use" },
			},
			{
				point: "pre_tool_execution",
				turn_number: 0,
				tool_call: { tool_use_id: "c1", name: "Glob", args: { pattern: "*" } },
			},
			{
				point: "post_tool_execution",
				turn_number: 0,
				tool_result: { tool_use_id: "c1", name: "Glob", is_error: false },
			},
			{ point: "turn_boundary", turn_number: 0 },
			{ point: "pre_llm_request", turn_number: 1 },
			{ point: "post_llm_response", turn_number: 1, llm_response: { assistant_text: "done", stop_reason: "end_turn" } },
			{ point: "turn_boundary", turn_number: 1 },
			{ point: "run_completed", turn_number: 1, result: "done" },
		]);
	});

	it("deny a call before it is made, and the result of one after it; the run goes on", async () => {
		for (const point of ["pre_tool_execution", "post_tool_execution"]) {
			const stage = createStage({
				scripts: [toolCall("c1", "WriteFile", { path: "made", content: "x" }), "text: done"],
			});
			const guard = { id: "guard", point, capability: "guardrail", runtime: denying("guard", { payload: { k: 1 } }) };
			const { lines, last } = await run(stage, [guard]);
			expect(last.result).toMatchObject({ text: "done", tool_calls: 1 });
			expect(words(lines)).toContain(`hook_denied guard ${point}`);
			const isMade = words(lines).includes("tool_execution_started");
			expect(isMade).toBe(point === "post_tool_execution");
			const [result] = payloads(lines).filter(({ type }) => type === "tool_execution_completed");
			expect(result).toMatchObject({ is_error: true });
			expect(JSON.parse(String(result?.["result"]))).toMatchObject({
				error: "hook_denied",
				data: { hook_id: "guard", point, reason_code: "safety_violation", payload: { k: 1 } },
			});
		}
	});

	it("deny the end of a run, which then failed", async () => {
		const stage = createStage({ scripts: ["text: done"] });
		const guard = { id: "guard", point: "run_completed", capability: "guardrail", runtime: denying("guard") };
		const { lines, last } = await run(stage, [guard]);
		expect(last.error).toMatchObject({ code: -32012, data: { code: "HOOK_DENIED", error: { kind: "hook_denied" } } });
		expect(payloads(lines).at(-1)).toMatchObject({
			type: "run_failed",
			error_report: { class: "hook", reason: { reason_type: "hook_denied", hook_id: "guard", point: "run_completed" } },
			terminal_cause_kind: "hook_denied",
		});
	});

	it.each([
		["fails", command("-c", "echo bad >&2; exit 7"), { reason_code: "execution_failed" }, "exit status: 7: bad"],
		["takes too long", command("-c", "sleep 30"), { reason_code: "timeout", timeout_ms: 300 }, "timed out after 300ms"],
		[
			"is not there",
			{ type: "command", command: "/no/such/hook" },
			{ reason_code: "execution_failed" },
			"not be started",
		],
		["answers nothing", command("-c", "cat >/dev/null"), { reason_code: "execution_failed" }, "it is not JSON"],
		["answers patches", command(...answering({ patches: [] })), { reason_code: "execution_failed" }, "`patches`"],
		["denies what it cannot", denying("h"), { reason_code: "execution_failed" }, "cannot deny"],
	])("fail the run when one %s, and not when it fails open", async (_name, runtime, reason, text) => {
		const hook = { id: "h", point: "pre_llm_request", timeout_ms: 300, runtime };
		const { lines, last } = await run(createStage({ scripts: ["text: done"] }), [hook]);
		expect(last.error).toMatchObject({
			code: -32603,
			message: expect.stringContaining(text),
			data: { code: "INTERNAL_ERROR", error: { kind: "hook_failure" } },
		});
		expect(words(lines).slice(-3)).toEqual([
			"hook_started h pre_llm_request",
			"hook_failed h pre_llm_request",
			"run_failed",
		]);
		expect(payloads(lines).at(-2)?.["reason"]).toMatchObject(reason);
		const open = await run(createStage({ scripts: ["text: done"] }), [{ ...hook, failure_policy: "fail_open" }]);
		expect(open.last.result).toMatchObject({ text: "done" });
		expect(words(open.lines)).toContain("hook_failed h pre_llm_request");
	});

	it("fail the run after a call, whose result is withheld, and before one, which is not made", async () => {
		for (const point of ["pre_tool_execution", "post_tool_execution"]) {
			const stage = createStage({ scripts: [glob, "text: never"] });
			const { lines, last } = await run(stage, [{ id: "h", point, runtime: command("-c", "exit 1") }]);
			expect(last.error).toMatchObject({ data: { error: { kind: "hook_failure" } } });
			expect(words(lines)).toContain(`hook_failed h ${point}`);
			expect(words(lines).includes("tool_execution_started")).toBe(point === "post_tool_execution");
			expect(words(lines).at(-1)).toBe("run_failed");
			expect(JSON.stringify(payloads(lines))).not.toContain("never");
		}
	});

	it("run in the order of their priority, and none after one that denies", async () => {
		const stage = createStage({ scripts: [glob, "text: done"] });
		const point = "pre_tool_execution";
		const { lines } = await run(stage, [
			{ id: "late", point, priority: 200, runtime: command(...answering({})) },
			{ id: "guard", point, priority: 2, runtime: denying("guard") },
			{ id: "early", point, priority: 1, runtime: command(...answering({ decision: { decision: "allow" } })) },
			{ id: "off", point, priority: 0, enabled: false, runtime: denying("off") },
			{ id: "behind", point, mode: "background", runtime: command(...answering({})) },
		]);
		expect(words(lines).filter((word) => String(word).startsWith("hook_"))).toEqual([
			`hook_started early ${point}`,
			`hook_completed early ${point}`,
			`hook_started guard ${point}`,
			`hook_completed guard ${point}`,
			`hook_denied guard ${point}`,
		]);
	});

	it("run in the background without an effect on the run", async () => {
		const stage = createStage({ scripts: ["text: done"] });
		const { lines, last } = await run(stage, [
			{ id: "b", point: "pre_llm_request", mode: "background", runtime: denying("b") },
		]);
		expect(last.result).toMatchObject({ text: "done" });
		expect(words(lines)).toContain("hook_failed b pre_llm_request");
		expect(words(lines).at(-1)).toBe("run_completed");
	});

	it("are still those of the session in another process", async () => {
		const stage = createStage({ scripts: ["text: one"] });
		const guard = { id: "guard", point: "pre_tool_execution", capability: "guardrail", runtime: denying("guard") };
		const { last } = await run(stage, [guard]);
		const { session_id: id } = last.result as { session_id: string };
		stage.setScripts([glob, "text: two"]);
		const server = serve(stage);
		await ask(server, "capabilities", "capabilities/get", {});
		const lines = await ask(server, "turn", "turn/start", { session_id: id, prompt: "again" });
		await end(server);
		expect(words(lines)).toContain("hook_denied guard pre_tool_execution");
	});

	it.each([
		[{ entries: [{ id: "x" }] }, "runtime"],
		[{ entries: [{ runtime: { type: "in_process", name: "noop" } }] }, "in_process"],
		[{ entries: [{ point: "nope", runtime: command("-c", "true") }] }, "point"],
		[{ entries: [{ capability: "rewrite", runtime: command("-c", "true") }] }, "capability"],
		[{ entries: [{ capability: "guardrail", point: "run_started", runtime: command("-c", "true") }] }, "guardrail"],
		[{ entries: [{ junk: 1, runtime: command("-c", "true") }] }, "junk"],
		[
			{ entries: [{ mode: "background", failure_policy: "fail_closed", runtime: command("-c", "true") }] },
			"background",
		],
		[{ entries: [{ runtime: { type: "http", url: "file:///etc/passwd" } }] }, "url"],
		[{ disable: ["b"] }, "disable"],
		[{ junk: [] }, "junk"],
		[[], "hooks_override"],
	])("refuse what could not be heeded: %j", async (override, named) => {
		const server = serve(createStage({ scripts: [] }));
		await ask(server, "capabilities", "capabilities/get", {});
		const lines = await ask(server, "create", "session/create", { prompt: "go", hooks_override: override });
		await end(server);
		expect(lines.at(-1)?.error).toMatchObject({ code: -32602, message: expect.stringContaining(named) });
	});
});
