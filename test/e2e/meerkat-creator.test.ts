// Sessions of Meerkat RPC whose creator answers no approvals: what their tools do unasked, and what binds them all the same.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { hasSandbox } from "../support/executable/bubblewrap.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse } from "../support/executable/running-server.ts";
import { ask, createDeferred, end, eventsOf, serve } from "../support/meerkat/meerkat-lines.ts";

/** Neither in the work directory nor for temporary files. */
const outside = "/usr/agentwire-outside";

const creation = { prompt: "go", enable_builtins: true, enable_shell: true };

/** Plays a command with these settings; returns its result. */
async function runCommand(stage: Stage, command: string, settings: object = {}): Promise<Record<string, unknown>> {
	stage.setScripts([toolCall("c", "Shell", { command }), "text: done"]);
	const config = JSON.stringify({ ...JSON.parse(stage.configText), ...settings });
	const server = serve(stage, "--config", config);
	const lines = await ask(server, "create", "session/create", creation);
	await end(server);
	const result = eventsOf(lines).find(({ type }) => type === "tool_execution_completed");
	if (result === undefined) throw new Error("no result");
	return { ...result };
}

describe("a command of a session whose creator decides", () => {
	it("runs unasked, and the journal says who decided", async () => {
		const stage = createStage();
		expect(await runCommand(stage, "echo hi > made.txt; cat made.txt")).toMatchObject({
			result: "hi\n",
			is_error: false,
		});
		const [id = ""] = stage.sessionIds();
		const journal = readFileSync(path.join(stage.sessionDir(id), "journal.jsonl"), "utf8");
		expect(journal).toContain('"by":"creator"');
	});

	it("runs not where a rule denies it", async () => {
		const stage = createStage();
		const permission = { rules: [{ decision: "deny", pattern: "Shell(rm:*)", reason: "Nothing is removed" }] };
		writeFileSync(path.join(stage.workDir, "a"), "");
		const result = await runCommand(stage, "rm a", { permission });
		expect(result).toMatchObject({ is_error: true, result: expect.stringContaining("Nothing is removed") });
		expect(existsSync(path.join(stage.workDir, "a"))).toBe(true);
	});

	it("runs not where the settings reject what nobody approves", async () => {
		const stage = createStage();
		const result = await runCommand(stage, "touch made", { agentwire: { unattended: "reject" } });
		expect(result).toMatchObject({ is_error: true });
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
	});

	/** Begins a run whose command waits for an approval, with these settings. */
	async function beginWaiting(settings: object) {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const agentwire = { unattended: "wait", ...settings };
		const server = serve(stage, "--config", JSON.stringify({ ...JSON.parse(stage.configText), agentwire }));
		const session_id = await createDeferred(server, { enable_builtins: true, enable_shell: true });
		server.request("turn", "turn/start", { session_id, prompt: "go" });
		const isMade = () => existsSync(path.join(stage.workDir, "made"));
		const journal = () => readFileSync(path.join(stage.sessionDir(session_id), "journal.jsonl"), "utf8");
		return { stage, server, session_id, isMade, journal };
	}

	it("waits where the settings let calls wait for somebody, until its run is interrupted", async () => {
		const { server, session_id, isMade, journal } = await beginWaiting({});
		await expect.poll(journal, { timeout: 20_000 }).toContain("interaction.requested");
		expect(isMade()).toBe(false);
		server.request("stop", "turn/interrupt", { session_id });
		const lines = await server.readUntil((line) => isResponse(line, "turn"));
		expect(lines.find((line) => isResponse(line, "turn"))?.error?.message).toBe("Run was cancelled");
		await end(server);
		expect(isMade()).toBe(false);
	});

	it("waits there no longer than approvals may, and its run goes on", async () => {
		const { server, isMade, journal } = await beginWaiting({ approval_timeout: 0.05 });
		const lines = await server.readUntil((line) => isResponse(line, "turn"));
		expect(lines.find((line) => isResponse(line, "turn"))?.result).toMatchObject({ text: "done" });
		const result = eventsOf(lines).find(({ type }) => type === "tool_execution_completed");
		expect(result).toMatchObject({ is_error: true });
		await end(server);
		expect(journal()).toContain("interaction.requested");
		expect(isMade()).toBe(false);
	});

	it("runs not where the settings say that a person is asked", async () => {
		const stage = createStage();
		const permission = { rules: [{ decision: "ask", pattern: "Shell(touch:*)" }] };
		const result = await runCommand(stage, "touch made", { permission });
		expect(result).toMatchObject({ is_error: true });
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
	});

	it.runIf(hasSandbox())("is confined to the workspace, unless the settings say otherwise", async () => {
		const stage = createStage();
		expect(await runCommand(stage, `touch inside && touch ${outside}`)).toMatchObject({ is_error: true });
		expect(existsSync(path.join(stage.workDir, "inside"))).toBe(true);
		expect(existsSync(outside)).toBe(false);
		// Whether the root can be written, whoever runs the tests.
		const command = `awk '$2 == "/" { found = $4 } END { print substr(found, 1, 2) }' /proc/self/mounts`;
		expect(await runCommand(stage, command)).toMatchObject({ result: "ro\n" });
		expect(await runCommand(stage, command, { sandbox: { creators: false } })).toMatchObject({ result: "rw\n" });
	});

	it.runIf(hasSandbox())("leaves the hooks of the settings as they are", async () => {
		const stage = createStage();
		const file = path.join(stage.shareDir, "hook");
		const hooks = [{ event: "PreToolUse", command: `echo hook > ${file}` }];
		await runCommand(stage, "true", { hooks });
		expect(existsSync(file)).toBe(true);
	});
});
