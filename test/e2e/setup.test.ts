// The command `setup` on a terminal, against a provider at a loopback address.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";
import { hasTerminal, onTerminal } from "../support/executable/terminal.ts";

/** Lists two models for the key `right`. */
async function startProvider(): Promise<string> {
	const server = createServer((request, response) => {
		const isRight = request.headers.authorization === "Bearer right-key";
		response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
		response.end(JSON.stringify(isRight ? { data: [{ id: "small" }, { id: "large", context_length: 200_000 }] } : {}));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

it.runIf(hasTerminal)(
	"tests the key, offers the provider's models and writes the settings for the owner alone",
	async () => {
		const baseUrl = await startProvider();
		const stage = createStage();
		const file = path.join(stage.shareDir, "config.toml");
		rmSync(file);
		const env = { ...stage.environment, agentwire: executablePath };
		const child = spawn("/bin/sh", ["-c", onTerminal('"$agentwire" setup')], { cwd: stage.workDir, env });
		let shown = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			shown += text;
		});
		const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
		const answer = async (question: string, text: string) => {
			await expect.poll(() => shown, { timeout: 20_000 }).toContain(question);
			shown = shown.slice(shown.indexOf(question) + question.length);
			child.stdin.write(`${text}\n`);
		};
		await answer("Number: ", "5");
		await answer("Address of its API", baseUrl);
		await answer("API key (not shown): ", "wrong-key");
		await answer("rejected the key (HTTP 401)", "");
		await answer("Address of its API", baseUrl);
		await answer("API key (not shown): ", "right-key");
		await answer("Number, or a part of the name: ", "lar");
		await expect.poll(() => shown, { timeout: 20_000 }).toContain("is now the default model");
		child.stdin.end();
		expect(await exited).toBe(0);
		expect(shown).not.toContain("right-key");
		const text = readFileSync(file, "utf8");
		expect(text).toMatch(/default_model = "127\.0\.0\.1:\d+\/large"/);
		expect(text).toContain('api_key = "right-key"');
		expect(text).toContain("max_context_size = 200000");
		expect(statSync(file).mode & 0o777).toBe(0o600);
	},
);

it("needs a terminal", async () => {
	const { code, stderr } = await createStage().run("setup");
	expect(code).toBe(2);
	expect(stderr).toContain("needs a terminal");
});
