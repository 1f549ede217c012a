// What a model, a tool or another site may try with the page: none of it runs, and nothing is requested elsewhere.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { beginSession, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const corpus = [
	"<img src=http://evil.test/x onerror=alert(1)>",
	"<script>alert(1)</script>",
	"<svg/onload=alert(1)>",
	"![x](http://evil.test/y.png)",
	"[click](javascript:alert(1))",
	"[data](data:text/html,<script>alert(1)</script>)",
	"<iframe srcdoc='<script>alert(1)</script>'></iframe>",
	"<style>@import 'http://evil.test/z.css'</style>",
	"</code></pre><base href=http://evil.test/>",
].join(" ");

describe.skipIf(!hasBrowser)("the page under attack", () => {
	it("runs and requests nothing of what is said, shown, named or asked", async () => {
		const name = "<img src=x onerror=alert(2)>.txt";
		const question = {
			question: corpus,
			header: corpus,
			options: [{ label: corpus, description: corpus }, { label: "b" }],
		};
		const stage = createStage({
			scripts: [
				`think: ${corpus}\ntext: ${corpus}\n${toolCall("a", "Shell", { command: `printf '%s' "${corpus.replaceAll('"', "")}"` })}`,
				toolCall("b", "WriteFile", { path: name, content: corpus }),
				toolCall("c", "SetTodoList", { todos: [{ title: corpus, status: "pending" }] }),
				toolCall("d", "AskUserQuestion", { questions: [question] }),
				"text: All done.",
			],
		});
		writeFileSync(path.join(stage.workDir, name), `before ${corpus}`);
		const { address, url } = await serveWeb(stage);
		const { page, requests, faults } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, corpus);
		await page.locator(".attention pre.command").waitFor();
		await page.keyboard.press("1");
		await page.locator(".attention .diff").waitFor();
		await page.keyboard.press("1");
		await page.getByRole("button", { name: "Dismiss" }).click();
		await page.getByText("All done.").waitFor();
		await page.reload();
		await page.getByText("All done.").waitFor();
		expect(faults).toEqual([]);
		expect(requests.filter((each) => !each.startsWith(`${url}/`) || each.includes("token"))).toEqual([]);
		expect(await page.locator(".log img, .log iframe, .log script, .log style, .log svg, base").count()).toBe(0);
		expect(await page.locator('a[href^="javascript"], a[href^="data"]').count()).toBe(0);
	});

	it("is not reached by another name, nor by another site", async () => {
		const { address, url } = await serveWeb(createStage());
		const { port } = new URL(url);
		const token = new URL(address).hash.slice("#token=".length);
		const site = createServer((_request, response) =>
			response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>evil</title>"),
		);
		await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void site.close());
		const bound = site.address();
		const sitePort = bound === null || typeof bound === "string" ? 0 : bound.port;
		const browser = await launch("--host-resolver-rules=MAP evil.test 127.0.0.1");
		const page = await (await browser.newContext()).newPage();
		const rebound = await page.goto(`http://evil.test:${port}/`);
		expect(rebound?.status()).toBe(421);
		await page.goto(`http://evil.test:${sitePort}/`);
		const attempts = await page.evaluate(`(async () => {
			const call = { method: "POST", headers: { authorization: "Bearer ${token}", "content-type": "application/json" }, body: '{"jsonrpc":"2.0","id":1,"method":"sessions.list","params":{}}' };
			const outcome = (work) => work.then((answer) => "type " + answer.type, () => "refused");
			const image = await new Promise((resolve) => {
				const element = new Image();
				element.onload = () => resolve("loaded");
				element.onerror = () => resolve("refused");
				element.src = "${url}/assets/icon.svg";
			});
			return JSON.stringify([
				await outcome(fetch("${url}/rpc", call)),
				await outcome(fetch("${url}/events?sessions=a", { headers: { authorization: "Bearer ${token}" } })),
				image,
			]);
		})()`);
		expect(JSON.parse(String(attempts))).toEqual(["refused", "refused", "refused"]);
	});
});
