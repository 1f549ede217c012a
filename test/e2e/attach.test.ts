// Programs of SDKs with a gateway running: the process that they start only carries bytes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

const frames = ["claude", "--input-format", "stream-json", "--output-format", "stream-json"];
const prompt = `${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`;

async function createServed(scripts: readonly string[]) {
	const stage = createStage({ scripts });
	const gateway = stage.serveAs("/usr/bin/env", "ONLY_GATEWAY=1", executablePath, "serve", "--port", "0", "--json");
	await gateway.readUntil((line) => "url" in line);
	return { stage, gateway };
}

/** Without the flags of ours that `serve` adds. */
function run(stage: Stage, attach: string, ...flags: string[]) {
	return stage.serveAs("/usr/bin/env", `AGENTWIRE_ATTACH=${attach}`, executablePath, ...frames, ...flags);
}

it("serves a program in the gateway, whose socket is its owner's", { timeout: 60_000 }, async () => {
	const { stage, gateway } = await createServed(["text: hello"]);
	const socket = path.join(stage.shareDir, "gateway.sock");
	expect(statSync(socket).mode & 0o777).toBe(0o600);
	const relay = run(stage, "1");
	relay.write(prompt);
	const lines = await relay.readUntil((line) => "type" in line && line.type === "result");
	expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "hello" });
	relay.endInput();
	expect([await relay.exited, relay.stderr]).toEqual([0, ""]);
	// The other one is served until its gateway is gone.
	const other = run(stage, socket);
	other.write(prompt);
	await other.readUntil((line) => "type" in line && line.type === "result");
	gateway.kill("SIGKILL");
	expect(await other.exited).toBe(1);
	expect(other.stderr).toContain("The gateway ended before the command did.");
});

it("runs the command itself where no gateway serves it", { timeout: 60_000 }, async () => {
	const { stage } = await createServed(["text: hello"]);
	for (const [attach, flags, said] of [
		[path.join(stage.shareDir, "none.sock"), [], "No gateway listens at"],
		["1", ["--continue"], "--continue is not served"],
	] as const) {
		const command = run(stage, attach, ...flags);
		command.write(prompt);
		command.endInput();
		const lines = await command.readUntil((line) => "type" in line && line.type === "result");
		expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "hello" });
		expect(await command.exited).toBe(0);
		expect(command.stderr).toContain(said);
	}
});

const served = "A gateway serves this command";
const sleep = toolCall("c1", "Shell", { command: "sleep 600" });
const bypass = ["--permission-mode", "bypassPermissions"];
const exec = ["codex", "exec", "--experimental-json", "--sandbox", "danger-full-access"];

/** Any command, without saying whether it is relayed. */
const start = (stage: Stage, ...argv: readonly string[]) =>
	stage.serveAs("/usr/bin/env", "ONLY_PROGRAM=1", executablePath, ...argv);

const isSleeping = (stage: Stage) => stage.commands().some((command) => command.startsWith("sleep 600"));

it("serves a program unasked, with its directory and environment", { timeout: 60_000 }, async () => {
	const write = toolCall("c1", "Shell", { command: 'echo "$ONLY_PROGRAM/$ONLY_GATEWAY/$PWD" > seen' });
	const { stage } = await createServed([write, "text: done"]);
	const relay = start(stage, ...frames, ...bypass);
	relay.write(prompt);
	await relay.readUntil((line) => "type" in line && line.type === "result");
	relay.endInput();
	expect(await relay.exited).toBe(0);
	expect(relay.stderr).toContain(served);
	expect(readFileSync(path.join(stage.workDir, "seen"), "utf8")).toBe(`1//${stage.workDir}\n`);
	const own = run(stage, "0");
	own.endInput();
	expect([await own.exited, own.stderr]).toEqual([0, ""]);
});

it("runs a turn of codex exec, and another in its thread", { timeout: 60_000 }, async () => {
	const { stage } = await createServed(["text: one"]);
	const first = start(stage, ...exec);
	first.write("go");
	first.endInput();
	const [begun, ...lines] = await first.readUntil((line) => "type" in line && line.type === "turn.completed");
	expect(begun).toMatchObject({ type: "thread.started" });
	expect(lines).toContainEqual(
		expect.objectContaining({ item: expect.objectContaining({ type: "agent_message", text: "one" }) }),
	);
	expect(await first.exited).toBe(0);
	expect(first.stderr).toContain(served);
	const thread = begun !== undefined && "thread_id" in begun ? String(begun["thread_id"]) : "";
	const second = start(stage, ...exec, "resume", thread, "go on");
	expect((await second.readUntil((line) => "type" in line && line.type === "turn.completed"))[0]).toEqual(begun);
	expect(await second.exited).toBe(0);
	// Its own process reports what is wrong.
	const wrong = start(stage, ...exec, "resume", "none", "go on");
	expect(await wrong.exited).toBe(1);
	expect(wrong.stderr).toContain("There is no session");
});

it("serves the app-server until the end of its input", { timeout: 60_000 }, async () => {
	const { stage } = await createServed(["text: hello"]);
	const server = start(stage, "codex", "app-server");
	const ask = (id: number, method: string, params: object) =>
		server.write(`${JSON.stringify({ id, method, params })}\n`);
	ask(1, "initialize", { clientInfo: { name: "test", version: "1" } });
	ask(2, "thread/start", {});
	const opened = await server.readUntil((line) => JSON.stringify(line).startsWith('{"id":2,'));
	expect(opened.at(-1)).toMatchObject({ result: { cwd: stage.workDir } });
	const { result } = opened.at(-1) as { result: { thread: { id: string } } };
	ask(3, "turn/start", { threadId: result.thread.id, input: [{ type: "text", text: "go" }] });
	await server.readUntil((line) => JSON.stringify(line).includes('"turn/completed"'));
	server.endInput();
	expect(await server.exited).toBe(0);
	expect(server.stderr).toContain(served);
});

it.each([
	["claude", [...frames, ...bypass], prompt, "SIGTERM", 0],
	["codex exec", exec, "go", "SIGTERM", 143],
	["codex exec", exec, "go", "SIGINT", 130],
	["a killed claude", [...frames, ...bypass], prompt, "SIGKILL", null],
	["a killed codex exec", exec, "go", "SIGKILL", null],
] as const)("ends the turn of %s with a signal", { timeout: 60_000 }, async (_name, argv, input, signal, code) => {
	const { stage } = await createServed([sleep]);
	const relay = start(stage, ...argv);
	relay.write(input);
	if (input === "go") relay.endInput();
	await expect.poll(() => isSleeping(stage), { timeout: 20_000 }).toBe(true);
	relay.kill(signal);
	expect(await relay.exited).toBe(code);
	expect(relay.stderr).toContain(served);
	await expect.poll(() => isSleeping(stage), { timeout: 20_000 }).toBe(false);
});

it.each([
	["claude", [...frames, ...bypass], prompt, 1],
	["codex exec", exec, "go", 141],
] as const)(
	"ends %s without a word when nobody reads its output any more",
	{ timeout: 60_000 },
	async (_name, argv, input, code) => {
		const { stage } = await createServed([toolCall("c1", "Shell", { command: "sleep 0.1" }), "text: done"]);
		const relay = spawn(executablePath, argv, { cwd: stage.workDir, env: stage.environment });
		let said = "";
		relay.stderr.on("data", (bytes) => (said += String(bytes)));
		relay.stdout.once("data", () => relay.stdout.destroy());
		relay.stdin.write(input);
		if (input === "go") relay.stdin.end();
		const [ended] = await once(relay, "close");
		expect(ended).toBe(code);
		expect(said.trim().split("\n")).toEqual([expect.stringContaining(served)]);
	},
);

it("runs the command itself where the gateway reads nothing of it", { timeout: 60_000 }, async () => {
	const stage = createStage({ scripts: ["text: hello"] });
	const gateway = createServer((socket) => socket.pause()).listen(path.join(stage.workDir, "stuck.sock"));
	await once(gateway, "listening");
	// More than the socket takes at once.
	const large = Array.from({ length: 5 }, (_, index) => `LARGE_${index}=${"x".repeat(100_000)}`);
	const relay = stage.serveAs("/usr/bin/env", ...large, "AGENTWIRE_ATTACH=stuck.sock", executablePath, ...frames);
	relay.write(prompt);
	const lines = await relay.readUntil((line) => "type" in line && line.type === "result");
	expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "hello" });
	relay.endInput();
	expect([await relay.exited, relay.stderr]).toEqual([0, expect.stringContaining("it did not answer")]);
	gateway.close();
});

it("leaves to its own process what the gateway would do otherwise", { timeout: 60_000 }, async () => {
	const { stage } = await createServed(["text: hello"]);
	for (const [variables, argv, said] of [
		[["OPENAI_API_KEY=other"], frames, "the gateway has a different value of OPENAI_API_KEY"],
		[[], ["codex", "exec", "--json", "--sandbox", "read-only", "go"], "it asks for the sandbox read-only"],
	] as const) {
		const command = stage.serveAs("/usr/bin/env", ...variables, executablePath, ...argv);
		command.endInput();
		expect(await command.exited).toBe(0);
		expect(command.stderr).toContain(said);
	}
});
