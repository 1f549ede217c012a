// Programs of the Claude SDK with a gateway running: the process that they start only carries bytes.
import { statSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage, executablePath, type Stage } from "../support/executable/executable.ts";

const frames = ["claude", "--input-format", "stream-json", "--output-format", "stream-json"];
const prompt = `${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`;

async function createServed(scripts: readonly string[]) {
	const stage = createStage({ scripts });
	const gateway = stage.serveAs(executablePath, "serve", "--port", "0", "--json");
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
