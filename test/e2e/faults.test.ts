// Something throws and nobody catches it: the turn it belonged to fails, everything else goes on.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
	createStage,
	executablePath,
	preloading,
	runExecutable,
	runsOnBun,
	type Stage,
	toolCall,
} from "../support/executable/executable.ts";
import { isResponse, lastOf, outline } from "../support/executable/running-server.ts";
import { answerTo, createSession, request } from "../support/meerkat/meerkat-client.ts";

/** A command that hangs the first time, and says something later. */
const command = "[ -e hung ] && echo again || { touch hung; exec sleep 1000; }";
const scripts = [toolCall("call-1", "Shell", { command }), "text: done"];

/** What is loaded before the program: it breaks in the callback of a timer that the first of these commands starts. */
function faulty(stage: Stage, fault: string): Record<string, string> {
	const preload = path.join(stage.shareDir, "fault.cjs");
	writeFileSync(
		preload,
		`const processes = require("node:child_process");
const { spawn } = processes;
let isFirst = true;
processes.spawn = (...all) => {
	if (isFirst && JSON.stringify(all[1]).includes("touch hung")) {
		isFirst = false;
		setTimeout(() => { ${fault} }, 300);
	}
	return spawn(...all);
};
require("node:module").syncBuiltinESMExports();
`,
	);
	return preloading(preload);
}

const logOf = (stage: Stage) => readFileSync(path.join(stage.shareDir, "logs", "agentwire.log"), "utf8");

const faults = [
	["an exception", "throw new Error('injected fault')"],
	["a rejection", "Promise.reject(new Error('injected fault'))"],
] as const;

const internal = { error: { code: -32603, message: "Internal error; the log has the details." } };

describe.each(faults)("%s that nobody caught", (_name, fault) => {
	it("ends the turn of a session, which then goes on", async () => {
		const stage = createStage({ scripts });
		const server = stage.serveWith(faulty(stage, fault), "--wire", "--yolo", "--session", "s");
		server.prompt("hi");
		const lines = await server.readUntil((line) => isResponse(line, "prompt"));
		expect(outline(lines).slice(-2)).toEqual(["TurnEnd", "-32603"]);
		expect(lines.at(-1)).toMatchObject(internal);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
		server.prompt("more", "second");
		expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(logOf(stage)).toMatch(/injected fault.*fault\.cjs/);
	});

	// Bun does not say where a rejection comes from: it is logged, and nothing ends.
	const isOwnerKnown = !runsOnBun || fault.startsWith("throw");
	it.skipIf(!isOwnerKnown)("ends the turn of the one session of many that it came from", async () => {
		const stage = createStage({ scripts });
		const server = stage.serveWith(faulty(stage, fault), "rpc");
		await request(server, "hello", "initialize", { requests: ["approval/request"] });
		const withShell = { enable_builtins: true, enable_shell: true };
		const ids = [await createSession(server, withShell, "a"), await createSession(server, withShell, "b")];
		const start = async (n: 0 | 1) => {
			server.request(`turn-${n}`, "turn/start", { session_id: ids[n], prompt: "go" });
			return lastOf(await server.readUntil((line) => JSON.stringify(line.method) === '"approval/request"'));
		};
		const approvals = [await start(0), await start(1)] as const;
		server.answer(approvals[1].id ?? "", { decision: "approve" });
		expect(lastOf(await server.readUntil((line) => isResponse(line, "turn-1")))).toMatchObject(internal);
		server.answer(approvals[0].id ?? "", { decision: "approve" });
		const other = lastOf(await server.readUntil((line) => isResponse(line, "turn-0")));
		expect(other.result).toMatchObject({ text: "done" });
		const again = await answerTo(server, "again", "turn/start", { session_id: ids[1], prompt: "go on" });
		expect(again.result).toMatchObject({ text: "done" });
		server.endInput();
		await server.readAll();
		expect(await server.exited).toBe(0);
	});

	it("fails a print run", async () => {
		const stage = createStage({ scripts });
		const argv = ["--work-dir", stage.workDir, "--print", "--yolo", "--prompt", "hi"];
		const { code, stdout, stderr } = await runExecutable(executablePath, argv, {
			env: { ...stage.environment, ...faulty(stage, fault) },
		});
		expect(code).toBe(1);
		expect(stdout + stderr).toContain("Internal error");
	});
});

describe("faults that belong to nothing", () => {
	const preloaded = (stage: Stage, code: string) => {
		const preload = path.join(stage.shareDir, "faults.cjs");
		writeFileSync(preload, code);
		return preloading(preload);
	};

	it("end nothing", async () => {
		const stage = createStage({ scripts: ["text: before", "text: after"] });
		const throwing = 'process.on("SIGUSR2", () => { throw new Error("injected fault"); });';
		const server = stage.serveWith(preloaded(stage, throwing), "--wire");
		server.prompt("hi", "before");
		await server.response("before");
		server.kill("SIGUSR2");
		await vi.waitFor(() => expect(logOf(stage)).toContain("injected fault"), { timeout: 5000, interval: 20 });
		server.prompt("hi", "after");
		expect(await server.response("after")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("end the process in good order when they do not cease", async () => {
		const stage = createStage({ scripts: ["text: before"] });
		const throwing =
			'process.on("SIGUSR2", () => setInterval(() => { throw new Error("injected fault"); }, 5).unref());';
		const server = stage.serveWith(preloaded(stage, throwing), "--wire", "--session", "s");
		server.prompt("hi");
		await server.response("prompt");
		server.kill("SIGUSR2");
		expect(await server.exited).toBe(1);
		expect(logOf(stage).match(/injected fault/g)?.length).toBeGreaterThan(100);
	});
});
