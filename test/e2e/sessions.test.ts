// Sessions over several processes: made, continued, shared, and pulled away from under a server.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { isResponse, lastOf, outline } from "../support/executable/running-server.ts";

const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
describe("sessions", () => {
	it("an unknown id makes that session", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "brand-new");
		server.prompt("hi");
		await server.response("prompt");
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(stage.sessionIds()).toEqual(["brand-new"]);
	});

	it("a session has a journal and the three files of Kimi", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.response("prompt");
		server.endInput();
		await server.exited;
		for (const file of ["context.jsonl", "journal.jsonl", "state.json", "wire.jsonl"]) {
			expect(existsSync(path.join(stage.sessionDir("s"), file))).toBe(true);
		}
	});

	it("--continue resumes the last one", async () => {
		const stage = createStage();
		const first = stage.serve("--wire", "--session", "s");
		first.prompt("hi");
		await first.response("prompt");
		first.endInput();
		await first.exited;
		const second = stage.serve("--wire", "--continue");
		second.request("replay", "replay");
		const lines = await second.readUntil((line) => isResponse(line, "replay"));
		expect(outline(lines)).toEqual(["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd", "finished"]);
		expect(lines.at(-1)?.result).toEqual({ status: "finished", events: 5, requests: 0 });
	});

	it("a plan that another program wrote below the home directory is continued there", async () => {
		const stage = createStage();
		const home = path.join(stage.workDir, "home");
		const plans = path.join(home, ".kimi", "plans");
		for (const directory of [stage.sessionDir("s"), plans]) mkdirSync(directory, { recursive: true });
		writeFileSync(path.join(stage.sessionDir("s"), "context.jsonl"), '{"role": "_system_prompt", "content": "P"}\n');
		const state = {
			version: 1,
			plan_mode: true,
			plan_session_id: "1c1f7b2bc1a1415aa135738083ab3d28",
			plan_slug: "jessica-cruz",
		};
		writeFileSync(path.join(stage.sessionDir("s"), "state.json"), JSON.stringify(state));
		const file = path.join(plans, "jessica-cruz.md");
		writeFileSync(file, "# Old\n");
		const edit = { old: "# Old", new: "# New" };
		stage.setScripts([toolCall("call-1", "StrReplaceFile", { path: file, edit }), "text: done"]);
		const server = stage.serveWith({ HOME: home }, "--wire", "--session", "s");
		server.prompt("go on");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		expect(readFileSync(file, "utf8")).toBe("# New\n");
		expect(existsSync(path.join(stage.shareDir, "plans"))).toBe(false);
	});

	it("--continue resumes one whose server was killed", async () => {
		const stage = createStage({ scripts: [shellCall("echo hi")] });
		const first = stage.serve("--wire", "--session", "killed");
		first.prompt("hi");
		await first.message("ApprovalRequest");
		first.kill("SIGKILL");
		await first.exited;
		stage.setScripts(["text: back"]);
		const second = stage.serve("--wire", "--continue");
		second.prompt("go on");
		expect(await second.response("prompt")).toMatchObject({ result: { status: "finished" } });
		second.endInput();
		expect(await second.exited).toBe(0);
		expect(stage.sessionIds()).toEqual(["killed"]);
	});

	it("a second server on a session does not refuse to start", async () => {
		const stage = createStage();
		const first = stage.serve("--wire", "--session", "s");
		first.prompt("hi");
		await first.response("prompt");
		const second = stage.serve("--wire", "--session", "s");
		second.initialize();
		expect(await second.response("initialize")).toMatchObject({ result: { protocol_version: "1.10" } });
		second.prompt("hi");
		expect(await second.response("prompt")).toMatchObject({ result: { status: "finished" } });
		for (const server of [first, second]) {
			server.endInput();
			expect(await server.exited).toBe(0);
		}
	});

	it("a second server goes on while the first is still ending", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000")] });
		const first = stage.serve("--wire", "--yolo", "--session", "s");
		first.prompt("hi");
		await first.message("ToolCall");
		stage.setScripts(["text: back"]);
		first.kill("SIGTERM");
		const second = stage.serve("--wire", "--session", "s");
		// As long as the turn of the first is not over, prompts are refused.
		let answer: object = {};
		for (let count = 0; !("result" in answer) && count < 1000; count += 1) {
			second.prompt("go on", `prompt-${count}`);
			answer = await second.response(`prompt-${count}`);
		}
		expect(answer).toMatchObject({ result: { status: "finished" } });
		expect(outline((await first.readAll()).slice(-2))).toEqual(["TurnEnd", "cancelled"]);
		expect(await first.exited).toBe(0);
		second.endInput();
		expect(await second.exited).toBe(0);
		expect(stage.loggedTypes("s").filter((type) => type === "TurnBegin" || type === "TurnEnd")).toEqual([
			"TurnBegin",
			"TurnEnd",
			"TurnBegin",
			"TurnEnd",
		]);
	});

	it("a second server takes over from one that works when it is told to, and the turn there ends with an error", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000")] });
		const first = stage.serve("--wire", "--yolo", "--session", "s");
		first.prompt("hi");
		await first.message("ToolCall");
		stage.setScripts(["text: mine now"]);
		const second = stage.serve("--wire", "--session", "s", "--take-over");
		second.prompt("hi");
		expect(await second.response("prompt")).toMatchObject({ result: { status: "finished" } });
		first.request("cancel", "cancel");
		const lines = await first.readUntil((line) => isResponse(line, "prompt"));
		expect(outline(lines).slice(-2)).toEqual(["TurnEnd", "-32603"]);
		expect(lastOf(lines).error?.message).toMatch(/taken over/);
		const turnMarks = stage.loggedTypes("s").filter((type) => type.startsWith("Turn"));
		expect(turnMarks).toEqual(["TurnBegin", "TurnBegin", "TurnEnd"]);
		for (const server of [first, second]) {
			server.endInput();
			expect(await server.exited).toBe(0);
		}
	});

	it.each([
		["used", true],
		["not used", false],
	])("a directory made beforehand keeps what else is in it when the session is %s", async (_name, used) => {
		const stage = createStage();
		const persisted = path.join(stage.sessionDir("s"), "baseline", "file");
		mkdirSync(path.dirname(persisted), { recursive: true });
		writeFileSync(persisted, "as it was");
		const server = stage.serve("--wire", "--session", "s");
		server.initialize();
		await server.response("initialize");
		if (used) {
			server.prompt("hi");
			expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		}
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(existsSync(persisted)).toBe(true);
	});

	it("a directory deleted under it fails the turn with the path, and the server goes on", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi", "first");
		await server.response("first");
		rmSync(stage.sessionDir("s"), { recursive: true });
		server.prompt("more", "second");
		const lines = await server.readUntil((line) => isResponse(line, "second"));
		// Neither beginning nor end of a turn that could not begin is delivered.
		expect(outline(lines)).toEqual(["-32603"]);
		expect(lastOf(lines).error?.message).toContain(stage.sessionDir("s"));
		server.request("x", "unheard-of");
		expect(await server.response("x")).toMatchObject({ error: { code: -32601 } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("the session directory is named after the path as given, links not resolved", async () => {
		const stage = createStage();
		const link = path.join(stage.shareDir, "link");
		symlinkSync(stage.workDir, link);
		const server = stage.serve("--wire", "--session", "s", "--work-dir", link);
		server.prompt("hi");
		await server.response("prompt");
		server.endInput();
		await server.exited;
		expect(stage.sessionIds()).toEqual([]);
	});
});
