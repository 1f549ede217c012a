// What a command shows on a terminal while it takes long, and that nothing of it comes into a pipe.
import { createServer } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";
import { hasTerminal, onTerminal } from "../support/executable/terminal.ts";

/** An MCP server that answers after a while. */
async function startSlowServer(): Promise<string> {
	const server = createServer((_request, response) => {
		setTimeout(() => response.writeHead(500).end(), 2500);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const address = server.address();
	return `http://127.0.0.1:${address === null || typeof address === "string" ? 0 : address.port}/mcp`;
}

it.skipIf(!hasTerminal)("a terminal shows what is waited for, and a pipe does not", async () => {
	const stage = createStage();
	const url = await startSlowServer();
	expect((await stage.run("mcp", "add", "--transport", "http", "slow", url)).code).toBe(0);
	const piped = await stage.run("mcp", "test", "slow");
	expect(piped.stdout + piped.stderr).not.toContain("\u001b");
	const command = onTerminal(`${executablePath} mcp test slow`);
	const shown = await runExecutable("/bin/sh", ["-c", command], { cwd: stage.workDir, env: stage.environment });
	expect(shown.stdout).toContain("\r\u001b[KConnecting to slow, 1 s");
	// The line is gone before anything else is printed.
	const [, after = ""] = shown.stdout.split(/Connecting to slow, \d s(?!.*Connecting)/);
	expect(after.startsWith("\r\u001b[K")).toBe(true);
});
