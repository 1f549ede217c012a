// A session of Meerkat RPC in a later process: it has its creation options, however the previous process ended.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { lastOf, type Server } from "../support/executable/running-server.ts";
import { answer, ask, create, end, eventsOf, isEvent, serve } from "../support/meerkat/meerkat-lines.ts";

const scripts = [
	[toolCall("g", "Glob", { pattern: "*" }), toolCall("s", "Shell", { command: "echo ran" })].join("\n"),
	"text: done",
];
const stateOf = (stage: Stage, id: string): Record<string, unknown> =>
	JSON.parse(readFileSync(path.join(stage.sessionDir(id), "state.json"), "utf8"));

/** The tools that a run of these scripts could use. */
async function usedTools(server: Server, session_id: string): Promise<unknown[]> {
	const lines = await ask(server, "turn", "turn/start", { session_id, prompt: "look" });
	expect(lastOf(lines).result).toMatchObject({ text: "done" });
	return eventsOf(lines).flatMap((event) =>
		event["type"] === "tool_execution_completed" && event["is_error"] === false ? [event["name"]] : [],
	);
}

describe("a session of an earlier process", () => {
	it.each([
		[{}, []],
		[{ enable_shell: true }, ["Shell"]],
		[{ enable_builtins: true }, ["Glob"]],
		[{ enable_builtins: true, enable_shell: true }, ["Glob", "Shell"]],
	])("made with %j can use %j", async (flags, tools) => {
		const stage = createStage();
		const first = serve(stage, "--yolo");
		const id = await create(first, { prompt: "go", ...flags });
		await end(first);
		stage.setScripts(scripts);
		const second = serve(stage, "--yolo");
		expect(await usedTools(second, id)).toEqual(tools);
		await end(second);
	});

	it("has its tools also when the process was killed in its first run", async () => {
		const stage = createStage({ scripts: [toolCall("s", "Shell", { command: "sleep 30" })] });
		const first = serve(stage, "--yolo");
		first.request("create", "session/create", { prompt: "go", enable_builtins: true, enable_shell: true });
		await first.readUntil(isEvent("tool_execution_started"));
		first.kill("SIGKILL");
		await first.exited;
		const [id = ""] = stage.sessionIds();
		stage.setScripts(scripts);
		const second = serve(stage, "--yolo");
		expect(await usedTools(second, id)).toEqual(["Glob", "Shell"]);
		await end(second);
	});

	it("has its budgets, and what was used of them", async () => {
		const stage = createStage({ scripts: ['text: done\nusage: {"input_other": 9, "output": 1}'] });
		const first = serve(stage);
		const session_id = await create(first, { prompt: "go", budget_limits: { max_tokens: 10 } });
		await end(first);
		const second = serve(stage);
		const { error } = await answer(second, "1", "turn/start", { session_id, prompt: "more" });
		expect(error).toMatchObject({ code: -32003, data: { scope: "session", used: 10, limit: 10 } });
		await end(second);
	});

	it("has its system prompt and its model", async () => {
		const stage = createStage();
		const other = { provider: "p", model: "other-model", max_context_size: 100_000 };
		const settings = JSON.parse(stage.configText);
		const config = JSON.stringify({ ...settings, models: { ...settings.models, other } });
		const first = serve(stage, "--config", config);
		const session_id = await create(first, { prompt: "go", model: "other", system_prompt: "Be a cat." });
		await end(first);
		const second = serve(stage, "--config", config);
		await answer(second, "0", "capabilities/get", {});
		expect((await answer(second, "1", "session/read", { session_id })).result).toMatchObject({ model: "other-model" });
		expect((await answer(second, "2", "turn/start", { session_id, prompt: "more" })).result).toMatchObject({
			session_id,
			turns: 1,
		});
		await end(second);
		const context = readFileSync(path.join(stage.sessionDir(session_id), "context.jsonl"), "utf8");
		expect(context.match(/"_system_prompt", "content": "[^"]*"/g)).toEqual([
			'"_system_prompt", "content": "Be a cat."',
		]);
	});

	it.each(["null", '"all"', '{"tools":"every"}'])(
		"has no tools when its metadata hold %s, and works otherwise",
		async (text) => {
			const stage = createStage();
			const first = serve(stage, "--yolo");
			const id = await create(first, { prompt: "go", enable_builtins: true });
			await end(first);
			const made_with: unknown = JSON.parse(text);
			writeFileSync(
				path.join(stage.sessionDir(id), "state.json"),
				JSON.stringify({ ...stateOf(stage, id), made_with }),
			);
			stage.setScripts(scripts);
			const second = serve(stage, "--yolo");
			expect(await usedTools(second, id)).toEqual([]);
			await end(second);
			expect(stateOf(stage, id)["made_with"]).toEqual(made_with);
		},
	);

	it("has in Kimi Wire the tools of Kimi Wire, and its own again afterwards", async () => {
		const stage = createStage();
		const first = serve(stage, "--yolo");
		const id = await create(first, { prompt: "go" });
		await end(first);
		const made = stateOf(stage, id)["made_with"];
		expect(made).toMatchObject({ tools: "none" });

		stage.setScripts(scripts);
		const kimi = stage.serve("--wire", "--session", id, "--plan");
		kimi.initialize();
		kimi.prompt("look");
		const result = await kimi.readUntil(({ params }) => params?.type === "ToolResult");
		expect(JSON.stringify(lastOf(result))).not.toContain("not found");
		kimi.endInput();
		await kimi.readAll();
		expect(stateOf(stage, id)).toMatchObject({ made_with: made, plan_mode: true });

		const again = serve(stage, "--yolo");
		expect(await usedTools(again, id)).toEqual([]);
		await end(again);
	});

	it("has the history it had, and after a compaction that of the model", async () => {
		const stage = createStage({ scripts: [...scripts, "text: The summary."] });
		const first = serve(stage, "--yolo");
		const session_id = await create(first, { prompt: "go", enable_builtins: true });
		const before = (await answer(first, "history", "session/history", { session_id })).result;
		expect(before).toMatchObject({ message_count: 5, has_more: false });
		expect(JSON.stringify(before)).toContain('"content":"go"');
		await end(first);

		stage.setScripts(["text: The summary."]);
		const second = serve(stage);
		expect((await answer(second, "1", "session/history", { session_id })).result).toEqual(before);
		expect((await answer(second, "2", "turn/start", { session_id, prompt: "/compact" })).error).toBeUndefined();
		const after = (await answer(second, "3", "session/history", { session_id })).result;
		expect(JSON.stringify(after)).toContain("The summary.");
		expect(JSON.stringify(after)).not.toContain('"content":"go"');
		await end(second);
		const third = serve(stage);
		expect((await answer(third, "1", "session/history", { session_id })).result).toEqual(after);
		await end(third);
	});

	it("begun in Kimi Wire has no built-in tools", async () => {
		const stage = createStage();
		const kimi = stage.serve("--wire");
		kimi.initialize();
		kimi.prompt("go");
		await kimi.response("prompt");
		kimi.endInput();
		await kimi.readAll();
		const [id = ""] = stage.sessionIds();
		stage.setScripts(scripts);
		const server = serve(stage, "--yolo");
		expect(await usedTools(server, id)).toEqual([]);
		await end(server);
	});
});
