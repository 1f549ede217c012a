// `agentwire web`, when the page is served already and when it is not.
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable } from "../support/executable/executable.ts";

describe("agentwire web", () => {
	it("says whether the page is served, gives its address again, and is forgotten when it ends", async () => {
		const stage = createStage();
		const run = (...flags: string[]) =>
			runExecutable(executablePath, ["web", ...flags], { cwd: stage.workDir, env: { ...stage.environment } });
		expect(await run("--status")).toMatchObject({
			code: 1,
			stdout: "The page is not being served. Start it with: agentwire web\n",
		});
		const server = stage.serveAs(executablePath, "web", "--no-open", "--json", "--port", "0");
		const [line] = await server.readUntil(() => true);
		const { page } = line as unknown as { page: string };
		const found = await run("--status");
		expect(found.code).toBe(0);
		expect(found.stdout).toContain(page);
		expect((await run("--no-open")).stdout).toContain(page);
		expect(JSON.parse((await run("--no-open", "--json")).stdout)).toMatchObject({ page });
		server.kill("SIGTERM");
		await server.exited;
		expect((await run("--status", "--json")).stdout).toBe('{"url":null}\n');
	});

	it("takes a gateway that was killed for none", async () => {
		const stage = createStage();
		const server = stage.serveAs(executablePath, "web", "--no-open", "--json", "--port", "0");
		await server.readUntil(() => true);
		server.kill("SIGKILL");
		await server.exited;
		const { code } = await runExecutable(executablePath, ["web", "--status"], {
			cwd: stage.workDir,
			env: { ...stage.environment },
		});
		expect(code).toBe(1);
	});
});
