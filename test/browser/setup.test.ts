// The first run: no model yet. A key goes to the settings file and nowhere else; a demo needs none.
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";
import { hasBrowser, launch, watch } from "./browser.ts";

const key = "sk-page-test-0123456789abcdef";

/** A provider that knows one key and lists two models. */
async function startProvider(): Promise<string> {
	const server = createServer((request, response) => {
		const isKnown = request.headers.authorization === `Bearer ${key}`;
		response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
		response.end(JSON.stringify({ data: [{ id: "small" }, { id: "large", context_length: 200_000 }] }));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const bound = server.address();
	return `http://127.0.0.1:${bound === null || typeof bound === "string" ? 0 : bound.port}/v1`;
}

async function serveWithoutModel() {
	const stage = createStage();
	const file = path.join(stage.shareDir, "config.toml");
	rmSync(file, { force: true });
	writeFileSync(file, "# mine\n");
	const server = stage.serveAs(executablePath, "web", "--no-open", "--json", "--port", "0");
	const [line] = await server.readUntil(() => true);
	return { file, address: (line as unknown as { page: string }).page };
}

describe.skipIf(!hasBrowser)("the first run", () => {
	it("tests a key, writes it to a file of its owner alone, and shows it to nobody", async () => {
		const { address, file } = await serveWithoutModel();
		const baseUrl = await startProvider();
		const { page, requests } = await watch(await (await launch()).newContext());
		const answers: Promise<string>[] = [];
		page.on("response", (response) => {
			if (response.url().endsWith("/rpc")) answers.push(response.text());
		});
		await page.goto(address);
		await page.getByRole("heading", { name: "First, a model" }).waitFor();
		await page.getByLabel("Provider").selectOption("compatible");
		await page.getByLabel("Address of the API").fill(baseUrl);
		await page.getByLabel("Key").fill("wrong-key");
		await page.getByRole("button", { name: "Test the key" }).click();
		await page.getByText("refuses the key (HTTP 401)").waitFor();
		await page.getByLabel("Key").fill(key);
		await page.getByRole("button", { name: "Test the key" }).click();
		await page.getByLabel("Model").selectOption("large");
		expect(await page.getByLabel("Context window, in tokens").inputValue()).toBe("200000");
		await page.getByRole("button", { name: "Use this model" }).click();
		await page.getByRole("heading", { name: "What should the agent work on?" }).waitFor();
		const written = readFileSync(file, "utf8");
		expect(written).toContain("# mine");
		expect(written).toContain(key);
		expect(statSync(file).mode & 0o777).toBe(0o600);
		for (const answer of await Promise.all(answers)) expect(answer).not.toContain(key);
		expect(requests.filter((each) => each.includes(key))).toEqual([]);
	});

	it("shows a demo with a scripted model, whose approvals and question are answered by keys", async () => {
		const { address } = await serveWithoutModel();
		const { page, faults } = await watch(await (await launch()).newContext());
		await page.goto(address);
		await page.getByRole("button", { name: "Try the demo" }).click();
		await page.locator(".attention pre.command", { hasText: "node --test" }).waitFor();
		await page.keyboard.press("1");
		await page.locator(".attention .added", { hasText: "let index = 0;" }).waitFor();
		await page.keyboard.press("1");
		await page.locator(".attention pre.command", { hasText: "node --test" }).waitFor();
		await page.keyboard.press("1");
		await page.getByRole("radio").nth(1).check();
		await page.getByRole("button", { name: "Answer" }).click();
		await page.getByText("It is fixed in basket.js").waitFor();
		expect(faults).toEqual([]);
	});
});
