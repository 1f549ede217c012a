// The two seconds of an end, when something of ours does not play along.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import { expect, it, vi } from "vitest";
import { createStage, executablePath, preloading } from "../support/executable/executable.ts";

/** More than fits between the server and a client that does not read: its end takes a while. */
const longScript = Array.from({ length: 20_000 }, (_, n) => `text: part ${n} of a long answer`).join("\n");

it("the process ends in time when the event loop blocks after the end began", async () => {
	const stage = createStage({ scripts: [longScript] });
	const preload = path.join(stage.shareDir, "stuck.cjs");
	const sign = path.join(stage.shareDir, "sign");
	writeFileSync(
		preload,
		`const look = setInterval(() => { if (require("node:fs").existsSync(${JSON.stringify(sign)})) for (;;); }, 20); look.unref();`,
	);
	const server = stage.serveWith(preloading(preload), "--wire", "--session", "s");
	server.prompt("hi");
	await server.message("ContentPart");
	server.pause();
	const before = performance.now();
	server.kill("SIGTERM");
	// The end has begun.
	await vi.waitFor(() => expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd"), { timeout: 1500, interval: 20 });
	writeFileSync(sign, "");
	expect(await server.gone).toBeNull();
	// Two seconds of its own, and what a machine with other work adds. Without the last resort it would never end.
	expect(performance.now() - before).toBeLessThan(5000);
	expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
});

it.skipIf(process.platform !== "linux")(
	"the process ends in time, with its exit code, when nobody reads a full stderr",
	async () => {
		const stage = createStage();
		const pipe = path.join(stage.shareDir, "stderr");
		execFileSync("mkfifo", [pipe]);
		const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
		fill(descriptor);
		const run = (...argv: string[]) =>
			spawn(executablePath, ["--work-dir", stage.workDir, ...argv], {
				env: stage.environment,
				stdio: ["pipe", "pipe", openSync(pipe, constants.O_RDWR)],
			});
		const server = run("--wire", "--session", "s");
		server.stdin?.end('{"jsonrpc":"2.0","id":"1","method":"prompt","params":{"user_input":"hi"}}\n');
		server.stdout?.resume();
		expect(await once(server, "exit")).toEqual([0, null]);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
		expect(await once(run("--wire", "--config", "{"), "exit")).toEqual([2, null]);
		closeSync(descriptor);
	},
);

it("the process ends in time when stderr is closed", async () => {
	const stage = createStage();
	const server = spawn(executablePath, ["--work-dir", stage.workDir, "--wire", "--session", "s"], {
		env: stage.environment,
		stdio: ["pipe", "pipe", "pipe"],
	});
	server.stderr.destroy();
	server.stdin.end('{"jsonrpc":"2.0","id":"1","method":"prompt","params":{"user_input":"hi"}}\n');
	server.stdout.resume();
	expect(await once(server, "exit")).toEqual([0, null]);
});

/** Writes to a pipe until it takes no more. */
function fill(descriptor: number): void {
	try {
		for (;;) writeSync(descriptor, "x".repeat(4096));
	} catch {
		// It is full.
	}
}
