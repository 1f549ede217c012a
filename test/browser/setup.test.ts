// The first run: no model yet. A key goes to the settings file and nowhere else; a demo needs none.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { startPlatformServer } from "../support/host/platform-server.ts";
import { decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const key = "sk-page-test-0123456789abcdef";

/** The texts of all answers to requests of the page, as they come. */
function collectAnswers(page: Page): readonly Promise<string>[] {
	const answers: Promise<string>[] = [];
	page.on("response", (response) => {
		if (!response.url().endsWith("/rpc")) return;
		const answer = response.text();
		// One that comes after the last look has no text any more when the page is closed.
		answer.catch(() => {});
		answers.push(answer);
	});
	return answers;
}

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

async function serveWithoutModel(variables: Readonly<Record<string, string>> = {}) {
	const stage = createStage();
	const file = path.join(stage.shareDir, "config.toml");
	writeFileSync(file, "# mine\n");
	const { address } = await serveWeb({ ...stage, serve: (...flags) => stage.serveWith(variables, ...flags) });
	return { stage, file, address };
}

describe.skipIf(!hasBrowser)("the first run", () => {
	it("tests a key, writes it to a file of its owner alone, and shows it to nobody", async () => {
		const { address, file } = await serveWithoutModel();
		const baseUrl = await startProvider();
		const { page, requests } = await watch(await (await launch()).newContext());
		const answers = collectAnswers(page);
		await page.goto(address);
		await page.getByRole("heading", { name: "Choose a model" }).waitFor();
		await page.getByLabel("Provider").selectOption("compatible");
		await page.getByLabel("Address of the API").fill(baseUrl);
		await page.getByLabel("Key").fill("wrong-key");
		await page.getByRole("button", { name: "Test the key" }).click();
		await page.getByText("rejected the key (HTTP 401)").waitFor();
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

	it("signs in with a code, says why it failed, and has the models of the account at once", async () => {
		const platform = await startPlatformServer();
		onTestFinished(() => platform.close());
		const { address, stage } = await serveWithoutModel({
			KIMI_CODE_OAUTH_HOST: platform.url,
			KIMI_CODE_BASE_URL: `${platform.url}/v1`,
		});
		const { page, faults } = await watch(await (await launch()).newContext());
		const answers = collectAnswers(page);
		await page.goto(address);
		const signIn = page.locator(".first-run section", { hasText: "Kimi account" });
		platform.beforeGrant.push("access_denied");
		await signIn.getByRole("button", { name: "Sign in" }).click();
		await signIn.locator(".warning-text").waitFor();
		// Confirmed elsewhere after a while; the code is shown until then.
		platform.beforeGrant.push(...Array.from({ length: 2000 }, () => "authorization_pending"));
		await signIn.getByRole("button", { name: "Sign in" }).click();
		await signIn.getByText("ABCD-1234", { exact: true }).waitFor();
		expect(await signIn.getByRole("link").getAttribute("href")).toBe(`${platform.url}/device?code=ABCD-1234`);
		await signIn.getByRole("button", { name: "Cancel" }).click();
		await signIn.getByRole("button", { name: "Sign in" }).click();
		await signIn.getByText("ABCD-1234", { exact: true }).waitFor();
		platform.beforeGrant.length = 0;
		await page.getByRole("heading", { name: "What should the agent work on?" }).waitFor();
		await page.getByRole("button", { name: "Begin a session" }).click();
		await say(page, "hello");
		await page.getByText("Here I am.").waitFor();
		expect(await page.getByLabel("Model", { exact: true }).inputValue()).toBe("kimi-code/kimi-for-coding");
		const tokens = JSON.parse(readFileSync(path.join(stage.shareDir, "credentials", "kimi-code.json"), "utf8"));
		for (const answer of await Promise.all(answers)) {
			for (const secret of [tokens.access_token, tokens.refresh_token, "device-secret-1"]) {
				expect(answer).not.toContain(secret);
			}
		}
		expect(faults).toEqual([]);
	});

	it("shows a demo with a scripted model, whose approvals and question are answered by keys", async () => {
		const { address } = await serveWithoutModel();
		const { page, faults } = await watch(await (await launch()).newContext());
		await page.goto(address);
		await page.getByRole("button", { name: "Try the demo" }).click();
		await page.locator(".attention pre.command", { hasText: "node --test" }).waitFor();
		await decide(page, "1");
		await page.locator(".attention .added", { hasText: "let index = 0;" }).waitFor();
		await decide(page, "1");
		await page.locator(".attention pre.command", { hasText: "node --test" }).waitFor();
		await decide(page, "1");
		await page.locator(".attention").getByRole("radio").nth(1).check();
		await page.getByRole("button", { name: "Answer" }).click();
		await page.getByText("I fixed it by changing one character").waitFor();
		expect(faults).toEqual([]);
	});
});
