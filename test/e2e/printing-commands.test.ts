// The end of commands that print: their output is whole, and being stopped is no success.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";

/** A server that accepts connections and says nothing. */
async function createSilentServer() {
	const server = createServer((socket) => void socket.on("error", () => {}));
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => void server.close());
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("it has no port");
	return { port: address.port, connected: () => once(server, "connection") };
}

describe("a command that prints", () => {
	it("ends once all of its output was read, however much more than a pipe holds that is", async () => {
		const sentence = "All of this is said. ";
		const stage = createStage({ scripts: [`text: ${sentence.repeat(40_000)}`] });
		await stage.run("--quiet", "--session", "long", "-p", "Say all");
		const show = (executable: string, ...argv: string[]) =>
			runExecutable(executable, argv, { cwd: stage.workDir, env: stage.environment });
		for (const { code, stdout } of [
			await show(executablePath, "sessions", "show", "long"),
			await show("/bin/sh", "-c", `"$0" sessions show long | cat`, executablePath),
		]) {
			// Not compared as a whole: a message of the difference would be as long.
			expect([code, stdout.split(sentence.trim()).length - 1]).toEqual([0, 40_000]);
		}
	});

	it.each([
		["SIGINT", 130],
		["SIGTERM", 143],
		["SIGHUP", 129],
	] as const)("fails when it is stopped by %s", async (signal, code) => {
		const stage = createStage();
		const { port, connected } = await createSilentServer();
		const env = { ...stage.environment, AGENTWIRE_STORE_URL: `postgresql://nobody@127.0.0.1:${port}/none` };
		for (const command of [
			["store", "check"],
			["sessions", "delete", "some", "--yes"],
		]) {
			const arrival = connected();
			const running = spawn(executablePath, command, { cwd: stage.workDir, env, stdio: "ignore" });
			const exited = once(running, "exit");
			await arrival;
			running.kill(signal);
			expect(await exited).toEqual([code, null]);
		}
	});

	it("ends an export that waits for the database, and says so, when it is stopped", async () => {
		const stage = createStage();
		const { port, connected } = await createSilentServer();
		const env = { ...stage.environment, AGENTWIRE_STORE_URL: `postgresql://nobody@127.0.0.1:${port}/none` };
		const arrival = connected();
		const running = spawn(executablePath, ["export", "some", "--yes"], { cwd: stage.workDir, env });
		const exited = once(running, "exit");
		const complaint = text(running.stderr);
		await arrival;
		const stoppedAt = performance.now();
		running.kill("SIGINT");
		expect(await exited).toEqual([1, null]);
		expect(await complaint).toBe("The export was stopped; nothing was written.\n");
		// The database would be given up after ten seconds.
		expect(performance.now() - stoppedAt).toBeLessThan(5000);
	});

	it("ends a worker that waits for the database at its start, when it is stopped", async () => {
		const stage = createStage();
		const { port, connected } = await createSilentServer();
		const store = { AGENTWIRE_STORE_URL: `postgresql://nobody@127.0.0.1:${port}/none` };
		const arrival = connected();
		const running = spawn(executablePath, ["worker"], {
			cwd: stage.workDir,
			env: { ...stage.environment, ...store },
			stdio: "ignore",
		});
		const exited = once(running, "exit");
		await arrival;
		const stoppedAt = performance.now();
		running.kill("SIGTERM");
		expect(await exited).toEqual([0, null]);
		expect(performance.now() - stoppedAt).toBeLessThan(5000);
	});
});
