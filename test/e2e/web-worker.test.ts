// The hidden subcommand by which the web backend of kimi starts a server for a session that it made.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, runExecutable, type Stage, toolCall } from "../support/executable/executable.ts";
import { outline, Server } from "../support/executable/running-server.ts";

/** What the backend leaves for the worker: a directory with an empty context in a work dir that is listed. */
function prepareSession(stage: Stage): string {
	const id = randomUUID();
	mkdirSync(stage.sessionDir(id), { recursive: true });
	writeFileSync(path.join(stage.sessionDir(id), "context.jsonl"), "");
	const workDirs = [{ path: stage.workDir, kaos: "local", last_session_id: null }];
	writeFileSync(path.join(stage.shareDir, "kimi.json"), JSON.stringify({ work_dirs: workDirs }));
	return id;
}

/** The worker's directory is the backend's, not that of the session. */
function startWorker(stage: Stage, id: string): Server {
	const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-backend-")));
	const server = new Server(spawn(executablePath, ["__web-worker", id], { cwd, env: stage.environment }));
	onTestFinished(async () => {
		server.kill("SIGKILL");
		await server.exited;
		rmSync(cwd, { recursive: true, force: true });
	});
	return server;
}

describe("__web-worker", () => {
	it("serves the session in the work dir that is listed for it", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Shell", { command: "pwd" }), "text: done"] });
		const id = prepareSession(stage);
		const server = startWorker(stage, id);
		server.initialize();
		expect(await server.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		server.request("prompt", "prompt", { user_input: [{ type: "text", text: "where?" }] });
		server.decide(await server.message("ApprovalRequest"), "approve");
		const { params } = await server.message("ToolResult");
		expect(params?.payload["return_value"]).toMatchObject({ is_error: false, output: `${stage.workDir}\n` });
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		expect(stage.sessionIds()).toEqual([id]);
		expect(stage.loggedTypes(id)[0]).toBe("TurnBegin");
		const state: unknown = JSON.parse(readFileSync(path.join(stage.sessionDir(id), "state.json"), "utf8"));
		expect(state).toMatchObject({ custom_title: "where?" });

		stage.setScripts(["text: again"]);
		const again = startWorker(stage, id);
		again.request("replay", "replay");
		const replayed = await again.readUntil((line) => line.id === "replay");
		expect(outline(replayed).slice(0, 2)).toEqual(["TurnBegin", "StepBegin"]);
		again.endInput();
		expect(await again.exited).toBe(0);
	});

	it("leaves a session that was not used to the backend that made it", async () => {
		const stage = createStage();
		const id = prepareSession(stage);
		const server = startWorker(stage, id);
		server.initialize();
		await server.response("initialize");
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		expect(readdirSync(stage.sessionDir(id))).toEqual(["context.jsonl"]);
		expect(server.stderr).not.toContain("resume");
	});

	it.each([
		["is unknown", randomUUID()],
		["is no id", "../x"],
	])("exits with a reason when the id %s", async (_name, id) => {
		const stage = createStage();
		prepareSession(stage);
		const { code, stdout, stderr } = await runExecutable(executablePath, ["__web-worker", id], {
			env: stage.environment,
		});
		expect([code, stdout]).toEqual([1, ""]);
		expect(stderr).toContain(id);
	});

	it.each([[[]], [["one", "two"]], [["--wire", "one"]]])("is a usage error with %j", async (words) => {
		const stage = createStage();
		const { code, stdout } = await runExecutable(executablePath, ["__web-worker", ...words], {
			env: stage.environment,
		});
		expect([code, stdout]).toEqual([2, ""]);
	});
});
