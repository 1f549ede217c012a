// A session that another process runs, used from a second one: seen, answered and steered there, and continued when it is gone.
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type Approval, connect } from "../../src/client/client.ts";
import { createStage, executablePath, runExecutable, toolCall } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";
import { openSession, run } from "../support/executable/sdk-client.ts";

const call = (name: string) => toolCall(name, "Shell", { command: `touch ${name}` });
const limit = { timeout: 60_000 };

function createOwned(scripts: readonly string[]) {
	const stage = createStage({ scripts });
	const editor = openSession(stage);
	const kernelHere = () =>
		connect({
			command: executablePath,
			env: { ...stage.environment },
			cwd: stage.workDir,
			client: { name: "second", version: null },
		});
	const sockets = () => {
		const directory = path.join(stage.shareDir, "sockets");
		return (existsSync(directory) ? readdirSync(directory) : []).map((name) => path.join(directory, name));
	};
	return { stage, editor, kernelHere, sockets };
}

async function readAnswer(server: Server, id: string) {
	return (await server.readUntil((line) => line.id === id && line.method === undefined)).at(-1)?.result;
}

it("answers an approval of an editor's turn from the client library", limit, async () => {
	const { stage, editor, kernelHere, sockets } = createOwned(["text: Ready.", call("made"), "text: Done."]);
	await run(editor.prompt("hi"));
	await expect.poll(sockets, { timeout: 20_000 }).toHaveLength(1);
	expect(statSync(sockets()[0] ?? "").mode & 0o777).toBe(0o600);
	await using kernel = await kernelHere();
	const asked: string[] = [];
	await using session = await kernel.open({
		id: editor.sessionId,
		async approve(ask) {
			asked.push(ask.id);
			return ask.once();
		},
	});
	const { result, types } = await run(editor.prompt("go"));
	expect(result).toEqual({ status: "finished" });
	expect(types).toContain("ApprovalResponse");
	expect(asked).toHaveLength(1);
	expect(readdirSync(stage.workDir)).toEqual(["made"]);
	expect(session.id).toBe(editor.sessionId);
});

it("follows a session to the process that takes it, and goes on here when that one is killed", limit, async () => {
	const { stage, editor, kernelHere, sockets } = createOwned(["text: Ready."]);
	await run(editor.prompt("hi"));
	await editor.close();
	await using kernel = await kernelHere();
	const asked: Approval[] = [];
	// Nobody owns it when it is opened here.
	await using session = await kernel.open({ id: editor.sessionId, approve: (ask) => void asked.push(ask) });
	stage.setScripts([call("made"), "text: Done.", call("never")]);
	const owner = stage.serve("--wire", "--session", editor.sessionId);
	owner.initialize();
	await readAnswer(owner, "initialize");
	owner.prompt("go");
	await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(1);
	expect(await asked[0]?.once()).toMatchObject({ settled: true });
	expect(await readAnswer(owner, "prompt")).toMatchObject({ status: "finished" });
	owner.prompt("go on", "second");
	await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(2);
	owner.kill("SIGKILL");
	await owner.gone;
	// The scripts that this process began with.
	expect(await session.prompt("and now?")).toMatchObject({ outcome: "finished", text: "Ready." });
	expect(sockets()).toHaveLength(2);
	// The next process clears up after it.
	const next = stage.serve("--wire");
	await expect
		.poll(() => sockets().map((file) => Number(/-(\d+)\.sock$/.exec(file)?.[1])), { timeout: 20_000 })
		.not.toContain(owner.pid);
	next.endInput();
	await next.exited;
	expect(sockets()).toHaveLength(1);
});

it("steers, and is told of a second process's turn end", limit, async () => {
	const { editor, kernelHere, sockets } = createOwned(["text: Ready.", call("made"), "text: Done."]);
	await run(editor.prompt("hi"));
	await expect.poll(sockets, { timeout: 20_000 }).toHaveLength(1);
	await using kernel = await kernelHere();
	await using session = await kernel.open({ id: editor.sessionId });
	const turn = editor.prompt("go");
	const { events } = await run(turn, async (event) => {
		if (event.type !== "ApprovalRequest") return;
		await session.steer("Also the docs.");
		const [ask] = await session.waiting();
		if (ask?.kind !== "approval") throw new Error("nothing waits");
		await ask.reject("Not now.");
	});
	expect(JSON.stringify(events)).toContain("Also the docs.");
	expect((await session.snapshot()).turnId).toBeNull();
});

it("answers an editor's approval in the chat of a terminal", limit, async () => {
	const { stage, editor, sockets } = createOwned(["text: Ready.", call("made"), "text: Done."]);
	await run(editor.prompt("hi"));
	await expect.poll(sockets, { timeout: 20_000 }).toHaveLength(1);
	const { code, stdout } = await runExecutable(
		"/bin/sh",
		["-c", `printf 'go\\ny\\n/quit\\n' | "$agentwire" chat --plain --session ${editor.sessionId}`],
		{ cwd: stage.workDir, env: { ...stage.environment, agentwire: executablePath } },
	);
	expect(code).toBe(0);
	expect(stdout).toMatch(/Allow Shell\?[\s\S]*Done\./);
	// The turn ran in the editor's process: the scripts of another one begin anew.
	expect(readdirSync(stage.workDir)).toEqual(["made"]);
});

it("is continued in the chat with all its tools when its process is gone", limit, async () => {
	const { stage, editor } = createOwned(["text: Ready."]);
	await run(editor.prompt("hi"));
	await editor.close();
	stage.setScripts([call("made"), "text: Done."]);
	const { stdout } = await runExecutable(
		"/bin/sh",
		["-c", `printf 'go\\ny\\n/quit\\n' | "$agentwire" chat --plain --session ${editor.sessionId}`],
		{ cwd: stage.workDir, env: { ...stage.environment, agentwire: executablePath } },
	);
	expect(stdout).toMatch(/Allow Shell\?[\s\S]*Done\./);
	expect(readdirSync(stage.workDir)).toEqual(["made"]);
});
