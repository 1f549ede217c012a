// What a model, a tool or another site may try with the page: none of it runs, and nothing is requested elsewhere.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { startPlatformServer } from "../support/host/platform-server.ts";
import { writeServers } from "../support/mcp/mcp-stage.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, type Watched, watch } from "./browser.ts";

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

const image = "<img src=x onerror=alert(2)>";

const hostileServer = `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params } = JSON.parse(line);
	if (method === "initialize") {
		const { protocolVersion } = params;
		send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: ${JSON.stringify(image)}, version: "1" } } });
	} else if (method === "tools/list") {
		const inputSchema = { type: "object", properties: {} };
		send({ id, result: { tools: [{ name: "odd", description: ${JSON.stringify(corpus)}, inputSchema }] } });
	} else if (method === "tools/call") {
		send({ id, result: { content: [{ type: "text", text: ${JSON.stringify(corpus)} }] } });
	} else if (id !== undefined) send({ id, error: { code: -32601, message: ${JSON.stringify(corpus)} } });
});
`;

/** Nothing of what was shown became more than text, ran, or asked for anything but what the page itself needs. */
async function expectHarmless({ page, requests, faults }: Watched, url: string): Promise<void> {
	expect(faults).toEqual([]);
	expect(requests.filter((each) => !each.startsWith(`${url}/`) || each.includes("token"))).toEqual([]);
	const own = requests.map((each) => new URL(each).pathname);
	expect(own.filter((each) => !/^\/($|rpc$|events$|assets\/|sessions\/[\w-]+\/history$)/.test(each))).toEqual([]);
	expect(
		await page
			.locator("#page :is(img, iframe, object, embed, script, style, link, svg:not(.icon), base, meta)")
			.count(),
	).toBe(0);
	expect(await page.locator('a:not([href^="http://"], [href^="https://"])').count()).toBe(0);
	expect(
		await page.evaluate(
			"[...document.querySelectorAll('#page *')].flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on'))",
		),
	).toEqual([]);
}

/** Serves it on loopback for the running test; gives its address. */
async function listen(server: HttpServer): Promise<string> {
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const bound = server.address();
	return `http://127.0.0.1:${bound === null || typeof bound === "string" ? 0 : bound.port}`;
}

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
				`think: ${corpus}\ntext: ${corpus}\n${toolCall("a", "Shell", { command: `touch made; printf '%s' "${corpus.replaceAll('"', "")}"` })}`,
				toolCall("b", "WriteFile", { path: name, content: corpus }),
				toolCall("c", "SetTodoList", { todos: [{ title: corpus, status: "pending" }] }),
				toolCall("d", "AskUserQuestion", { questions: [question] }),
				"text: All done.",
			],
		});
		writeFileSync(path.join(stage.workDir, name), `before ${corpus}`);
		const { address, url } = await serveWeb(stage);
		const watched = await watch(await (await launch()).newContext());
		const { page } = watched;
		await beginSession(page, address);
		await say(page, corpus);
		await page.locator(".attention pre.command").waitFor();
		await decide(page, "1");
		await page.locator(".attention .diff").waitFor();
		await decide(page, "1");
		await page.getByRole("button", { name: "Dismiss" }).click();
		await page.getByText("All done.").waitFor();
		await page.reload();
		await page.getByText("All done.").waitFor();
		await expectHarmless(watched, url);
	});

	it("runs and requests nothing of what tools, servers, rules, hooks, skills, files, titles and prompts are named", async () => {
		const stage = createStage({
			scripts: [
				// No server may have a tool of this name, but a model may ask for it.
				`${toolCall("a", "odd", { [corpus]: corpus })}\n${toolCall("z", image, { [corpus]: corpus })}`,
				toolCall("b", "Shell", { command: "touch made; sleep 600", run_in_background: true, description: image }),
				toolCall("c", "WriteFile", { path: "denied.txt", content: "x" }),
				toolCall("d", "Glob", { pattern: corpus }),
				toolCall("e", "AskUserQuestion", {
					questions: [{ question: "Well?", options: [{ label: "a" }, { label: "b" }] }],
				}),
				"text: First done.",
				"text: Second done.",
			],
		});
		// Files that version control tracks or not, and none that it ignores, are completed.
		for (const name of [`${image}.txt`, "plain.txt"]) writeFileSync(path.join(stage.workDir, name), "x");
		const skill = path.join(stage.workDir, ".kimi", "skills", "evil");
		mkdirSync(skill, { recursive: true });
		writeFileSync(path.join(skill, "SKILL.md"), `---\nname: evil\ndescription: ${JSON.stringify(corpus)}\n---\nx\n`);
		const serverFile = path.join(stage.shareDir, "server.mjs");
		writeFileSync(serverFile, hostileServer);
		writeServers(stage, { [image]: { command: process.execPath, args: [serverFile] } });
		const file = path.join(stage.shareDir, "config.toml");
		const quoted = JSON.stringify(corpus);
		const rule = (decision: string, pattern: string) =>
			`[[permission.rules]]\ndecision = "${decision}"\npattern = "${pattern}"\nreason = ${quoted}\n`;
		const hook = `[[hooks]]\nevent = "PreToolUse"\nmatcher = "Glob"\ncommand = ${JSON.stringify(`printf '%s' "${image}" >&2; exit 2`)}\n`;
		writeFileSync(
			file,
			`${readFileSync(file, "utf8")}\n${rule("ask", "Shell")}${rule("deny", "Write(denied.txt)")}${hook}`,
		);
		const { address, url } = await serveWeb(stage);
		const watched = await watch(await (await launch()).newContext({ viewport: { width: 1440, height: 900 } }));
		const { page } = watched;
		await beginSession(page, address);
		const field = page.getByLabel("Message to the agent");
		await field.pressSequentially("/skill");
		await page.locator(".suggestion", { hasText: "onerror" }).waitFor();
		await field.fill("");
		await field.pressSequentially("@img");
		await page.locator(".suggestion", { hasText: "onerror" }).waitFor();
		await page.getByLabel("Files to attach").setInputFiles({
			name: `${image}.txt`,
			mimeType: "text/plain",
			buffer: Buffer.from(corpus),
		});
		await say(page, corpus);
		await page.locator(".attention", { hasText: "odd of the tool server <img" }).waitFor();
		await say(page, `${corpus} queued`);
		const queue = page.getByRole("region", { name: "Queued prompts" });
		await queue.getByRole("button", { name: "Edit" }).click();
		await page.getByLabel("Edited prompt").fill(`${corpus} changed`);
		await page.keyboard.press("Enter");
		await queue.getByText("changed").waitFor();
		await decide(page, "1");
		await page.locator(".attention", { hasText: "asked because" }).waitFor();
		await decide(page, "1");
		await page.locator(".decision", { hasText: "Denied" }).first().waitFor();
		await page.locator(".note", { hasText: "Stopped by a hook" }).waitFor();
		await page.locator(".panel .tasks li", { hasText: "onerror" }).first().waitFor();
		await page.getByLabel("Another answer to: Well?").fill(corpus);
		await page.keyboard.press("Enter");
		await page.getByText("Second done.").waitFor();
		await page.locator("h1 .rename").click();
		await page.getByLabel("Title").fill(image);
		await page.getByLabel("Title").press("Enter");
		await page.locator(".title", { hasText: "onerror" }).waitFor();
		await page.getByLabel("Search sessions").fill(corpus);
		await page.getByText("No session matches.").waitFor();
		await page.keyboard.press("Control+k");
		await page.getByRole("combobox", { name: "Session or command" }).fill("<img");
		await page.getByRole("option", { name: "onerror" }).waitFor();
		await page.getByRole("combobox", { name: "Session or command" }).fill(corpus);
		await page.getByText("No match.").waitFor();
		await page.keyboard.press("Escape");
		await expectHarmless(watched, url);
		await page.reload();
		await page.getByText("Second done.").waitFor();
		await expectHarmless(watched, url);
	});

	it("runs and requests nothing of what a provider lists and a platform shows, nor of what is written into the first form", async () => {
		const list = createServer((_request, response) => {
			response.writeHead(200, { "content-type": "application/json" });
			response.end(JSON.stringify({ data: [{ id: `${image}-id`, name: corpus }] }));
		});
		const listUrl = await listen(list);
		const platform = await startPlatformServer();
		onTestFinished(() => platform.close());
		platform.device = {
			verification_uri: "javascript:alert(3)",
			verification_uri_complete: "javascript:alert(1)",
			user_code: image,
		};
		platform.beforeGrant.push(...Array.from({ length: 2000 }, () => "authorization_pending"));
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "");
		const variables = { KIMI_CODE_OAUTH_HOST: platform.url, KIMI_CODE_BASE_URL: `${platform.url}/v1` };
		const { address, url } = await serveWeb({ ...stage, serve: (...flags) => stage.serveWith(variables, ...flags) });
		const watched = await watch(await (await launch()).newContext());
		const { page } = watched;
		await page.goto(address);
		await page.getByLabel("Provider").selectOption("compatible");
		await page.getByLabel("Address of the API").fill(`${listUrl}/${image}`);
		await page.getByLabel("Key").fill("<script>alert(1)</script>");
		await page.getByRole("button", { name: "Test the key" }).click();
		await page.getByLabel("Model").locator("option", { hasText: "onerror" }).waitFor({ state: "attached" });
		await page.getByRole("button", { name: "Use this model" }).click();
		await page.getByRole("heading", { name: "What should the agent work on?" }).waitFor();
		await page.getByRole("button", { name: "Add a model" }).click();
		const signIn = page.locator(".first-run section", { hasText: "Kimi account" });
		await signIn.getByRole("button", { name: "Sign in" }).click();
		await signIn.locator(".code-word, .warning-text").first().waitFor();
		expect(await signIn.getByRole("link").count()).toBe(0);
		await page.getByLabel("Provider").selectOption("compatible");
		await page.getByLabel("Address of the API").fill(`javascript:${image}`);
		await page.getByRole("button", { name: "Test the key" }).click();
		await page.locator(".fault", { hasText: "must begin with" }).waitFor();
		await page.getByRole("combobox", { name: "Project directory" }).fill(`/no/${image}`);
		await page.getByRole("button", { name: "Begin a session" }).click();
		await page.locator(".fault", { hasText: "onerror" }).waitFor();
		await expectHarmless(watched, url);
	});

	it("is not reached by another name, nor by another site", async () => {
		const { address, url } = await serveWeb(createStage());
		const { port } = new URL(url);
		const token = new URL(address).hash.slice("#token=".length);
		const site = createServer((_request, response) =>
			response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>evil</title>"),
		);
		const sitePort = new URL(await listen(site)).port;
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
