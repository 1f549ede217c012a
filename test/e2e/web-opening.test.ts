import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";

it("leads the browser to the page by a private file, so that no argument of a program has its token", async () => {
	const stage = createStage();
	const binaries = path.join(stage.workDir, "bin");
	const seen = path.join(stage.workDir, "seen");
	mkdirSync(binaries);
	for (const name of ["open", "xdg-open"]) {
		writeFileSync(path.join(binaries, name), `#!/bin/sh\nprintf '%s' "$*" > ${seen}.part; mv ${seen}.part ${seen}\n`);
		chmodSync(path.join(binaries, name), 0o755);
	}
	const env = { ...stage.environment, PATH: `${binaries}:${process.env["PATH"]}` };
	const server = spawn(executablePath, ["web", "--port", "0"], { cwd: stage.workDir, env });
	onTestFinished(() => void server.kill("SIGKILL"));
	await expect.poll(() => existsSync(seen), { timeout: 20_000 }).toBe(true);
	const opened = readFileSync(seen, "utf8");
	const file = path.join(stage.shareDir, "open-page.html");
	expect(opened).toBe(`file://${file}`);
	expect(statSync(file).mode & 0o777).toBe(0o600);
	const { tokens }: { tokens: { token: string; scope: string }[] } = JSON.parse(
		readFileSync(path.join(stage.shareDir, "gateway.json"), "utf8"),
	);
	const token = tokens.find(({ scope }) => scope === "control")?.token ?? "none";
	expect(readFileSync(file, "utf8")).toContain(`/#token=${token}"`);
	expect(opened).not.toContain(token);
	const gone = new Promise((resolve) => server.once("exit", resolve));
	server.kill("SIGTERM");
	await gone;
	expect(existsSync(file)).toBe(false);
});
