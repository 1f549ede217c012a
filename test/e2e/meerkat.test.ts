// Meerkat RPC over the built executable: what a client sees that is not in the golden transcripts.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";
import { isResponse } from "../support/executable/running-server.ts";
import { answer, ask, create, end, eventsOf, serve, typesOf } from "../support/meerkat/meerkat-lines.ts";

describe("a server of many sessions", () => {
	it("ends without output when the input ends at once", async () => {
		expect(await end(serve(createStage()))).toEqual([]);
	});

	it.each([
		["rkat", ["rpc"]],
		["rkat-rpc", []],
		["agentwire", ["rpc"]],
	])("is started by the name %s", async (name, words) => {
		const stage = createStage();
		const executable = path.join(stage.workDir, name);
		symlinkSync(executablePath, executable);
		const { code, stdout } = await runExecutable(executable, words, { cwd: stage.workDir, env: stage.environment });
		expect([code, stdout]).toEqual([0, ""]);
	});

	it("creates no session before a request for one", async () => {
		const stage = createStage();
		const server = serve(stage);
		expect((await answer(server, "list", "session/list")).result).toEqual({ sessions: [] });
		await end(server);
		expect(stage.sessionIds()).toEqual([]);
	});

	it("refuses settings it cannot use at the start", async () => {
		const stage = createStage();
		const { code, stderr } = await stage.run("rpc", "--config", '{"default_model":"nothing"}');
		expect([code, stderr]).toEqual([2, expect.stringContaining("default_model")]);
	});

	it("goes on with a session of an earlier process, and hides one that was archived", async () => {
		const stage = createStage({ scripts: ['text: one\nusage: {"input_other": 9, "output": 2}'] });
		const first = serve(stage);
		const id = await create(first);
		await end(first);

		const second = serve(stage);
		expect((await answer(second, "1", "session/list")).result).toEqual({ sessions: [] });
		expect((await answer(second, "2", "session/read", { session_id: id })).result).toEqual({
			session_id: id,
			state: "idle",
		});
		const run = (await answer(second, "3", "turn/start", { session_id: id, prompt: "more" })).result;
		expect(run).toMatchObject({ text: "one", usage: { input_tokens: 18, output_tokens: 4 } });
		expect((await answer(second, "4", "session/archive", { session_id: id })).result).toEqual({ archived: true });
		await end(second);

		const third = serve(stage);
		expect((await answer(third, "1", "turn/start", { session_id: id, prompt: "x" })).error?.code).toBe(-32000);
		await end(third);
		expect(readdirSync(stage.sessionDir(id)).sort()).toEqual([
			"context.jsonl",
			"journal.jsonl",
			"state.json",
			"wire.jsonl",
		]);
	});

	it("names a configuration that it cannot read", async () => {
		const stage = createStage();
		mkdirSync(path.join(stage.workDir, ".rkat"));
		writeFileSync(path.join(stage.workDir, ".rkat", "config.toml"), "a = = b\n");
		const server = serve(stage);
		const { error } = await answer(server, "get", "config/get");
		expect(error).toMatchObject({ code: -32603, data: { code: "INTERNAL_ERROR" } });
		expect(error?.message).toContain("Failed to read config: Cannot read");
		await end(server);
	});

	it("sends every delta of a long answer before the response", async () => {
		const pieces = Array.from({ length: 10_000 }, (_, index) => `text: ${index} `);
		const server = serve(createStage({ scripts: [pieces.join("\n")] }));
		server.request("create", "session/create", { prompt: "long" });
		const lines = await server.readUntil((line) => isResponse(line, "create"));
		const deltas = eventsOf(lines).flatMap((event) => event["delta"] ?? []);
		expect(deltas).toHaveLength(10_000);
		expect(deltas.join("")).toBe(lines.at(-1)?.result?.["text"]);
		expect(typesOf(lines).at(-1)).toBe("run_completed");
		expect(await end(server)).toEqual([]);
	});

	it("keeps line separators in prompt and answer", async () => {
		const server = serve(
			createStage({
				scripts: ['tool_call: {"id":"c","name":"X","arguments":"{\\"a\\":\\"\\\\u2028\\"}"}', "text: done"],
			}),
		);
		const lines = await ask(server, "create", "session/create", { prompt: "a\u2028b\u2029c" });
		const events = eventsOf(lines);
		expect(events[0]).toMatchObject({ prompt: "a\u2028b\u2029c" });
		expect(events.find((event) => event["type"] === "tool_call_requested")).toMatchObject({ args: { a: "\u2028" } });
		await end(server);
	});

	it("evicts idle sessions for new ones, any number of times", async () => {
		const stage = createStage({ scripts: ["text: one"] });
		const settings = JSON.parse(stage.configText);
		const config = JSON.stringify({ ...settings, agentwire: { limits: { loaded_sessions: 3 } } });
		const server = serve(stage, "--config", config);
		const ids: string[] = [];
		for (let n = 0; n < 8; n += 1) ids.push(await create(server, { prompt: String(n) }, `c${n}`));
		for (const [n, id] of ids.entries()) {
			const { result } = await answer(server, `t${n}`, "turn/start", { session_id: id, prompt: "again" });
			expect(result).toMatchObject({ session_id: id, text: "one" });
		}
		const { result } = await answer(server, "list", "session/list");
		expect(result).toEqual({ sessions: ids.map((id) => ({ session_id: id, state: "idle" })) });
		await end(server);
	});
});
