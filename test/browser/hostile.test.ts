// What a hostile model, project or web site can do to the page: nothing. And what people who do not see or point need.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { beginSession, chromiumPath, closeBrowser, say, serveWeb, visit } from "../support/browser/browser.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";

afterAll(closeBrowser);

const hostile = [
	"<script>window.hit=1</script>",
	"<img src=x onerror=window.hit=1>",
	'"><svg onload=window.hit=1>',
	"<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
	"[x](javascript:window.hit=1)",
	"![x](https://evil.test/pixel.png)",
	"<a href='javascript:window.hit=1'>x</a>",
	"<style>*{background:url(https://evil.test/)}</style>",
	"{{constructor.constructor('window.hit=1')()}}",
	"</pre><script>window.hit=1</script>",
];

describe.skipIf(chromiumPath === null)("the web page and those who wish it harm", () => {
	it("runs no script and asks for nothing, in whichever field a text is", async () => {
		const all = hostile.join(" ");
		const file = "<img src=x onerror=window.hit=1>.txt";
		const stage = createStage({
			scripts: [
				toolCall("a", "Shell", { command: `echo '${hostile[0]}' '${hostile[1]}'` }),
				toolCall("b", "StrReplaceFile", { path: file, edit: { old: "one", new: all } }),
				toolCall("c", "AskUserQuestion", {
					questions: [
						{ question: all, header: "<b>", options: [{ label: hostile[1], description: all }, { label: "no" }] },
					],
				}),
				`text: ${all}`,
			],
		});
		writeFileSync(path.join(stage.workDir, file), "one");
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, all);
		for (const shown of [".command", ".difference"]) {
			await page.locator(`.attention ${shown}`).first().waitFor();
			await page.locator(".attention .primary").click();
		}
		await page.getByLabel("no", { exact: true }).check();
		await page.getByRole("button", { name: "Answer", exact: true }).click();
		await page.locator(".end").waitFor();
		expect(await page.evaluate(() => "hit" in globalThis)).toBe(false);
		expect(
			visitor.requested.filter((address) => !address.startsWith(served.origin) && !address.startsWith("data:")),
		).toEqual([]);
		expect([visitor.violations, visitor.faults]).toEqual([[], []]);
		await served.stop();
	});

	it("is not reached by a name that was made to lead here, nor by the page of another site", async () => {
		const stage = createStage();
		const served = await serveWeb(stage);
		const { port } = new URL(served.origin);
		const evil = createServer((_request, response) =>
			response.setHeader("content-type", "text/html").end("<p>evil</p>"),
		);
		await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void evil.close());
		const address = evil.address();
		const evilPort = address === null || typeof address === "string" ? 0 : address.port;
		const flags = ["--host-resolver-rules=MAP evil.test 127.0.0.1"];
		const visitor = await visit(`http://evil.test:${evilPort}/`, {}, flags);
		// The name leads to the gateway now.
		const rebound = await visitor.page.goto(`http://evil.test:${port}/`);
		expect(rebound?.status()).toBe(421);
		await visitor.page.goto(`http://evil.test:${evilPort}/`);
		const tried = await visitor.page.evaluate(
			async ([origin, token]) => {
				const outcomes: string[] = [];
				const note = async (work: () => Promise<Response>) => {
					try {
						outcomes.push(`${(await work()).type}`);
					} catch {
						outcomes.push("failed");
					}
				};
				const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "sessions.create", params: {} });
				await note(() => fetch(`${origin}/rpc`, { method: "POST", body, mode: "no-cors" }));
				await note(() =>
					fetch(`${origin}/rpc`, {
						method: "POST",
						body,
						headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
					}),
				);
				await note(() => fetch(`${origin}/events?sessions=x`));
				return outcomes;
			},
			[served.origin, served.token] as const,
		);
		expect(tried).toEqual(["failed", "failed", "failed"]);
		const own = await visit(served.address);
		await own.page.getByText("There are no sessions yet.").waitFor();
		await served.stop();
	});

	it("has no serious fault for those who do not see or point, in light and dark", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "ls" }), "text: # done\n"] });
		const served = await serveWeb(stage);
		const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
		for (const colorScheme of ["light", "dark"] as const) {
			const visitor = await visit(served.address, { colorScheme, bypassCSP: true });
			const { page } = visitor;
			const check = async (where: string) => {
				await page.evaluate(axe);
				const found = await page.evaluate(async () => {
					const { axe: tool } = globalThis as unknown as {
						axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
					};
					return (await tool.run()).violations.map(({ id, impact, nodes }) => ({
						id,
						impact,
						html: nodes[0]?.html.slice(0, 200),
					}));
				});
				expect(
					found.filter(({ impact }) => impact === "serious" || impact === "critical"),
					where,
				).toEqual([]);
			};
			await page.locator(".welcome").waitFor();
			await check(`welcome, ${colorScheme}`);
			await beginSession(visitor);
			await check(`empty, ${colorScheme}`);
			if (colorScheme === "light") {
				await say(visitor, "go");
				await page.locator(".attention").waitFor();
				await check("approval");
				await page.keyboard.press("1");
				await page.locator(".end").waitFor();
				await check("conversation");
			}
		}
		await served.stop();
	});

	it("shows a session of ten thousand events at once", async () => {
		const stage = createStage({ scripts: Array.from({ length: 60 }, (_, index) => `text: answer ${index}`) });
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		await beginSession(visitor);
		const id = new URL(visitor.page.url()).searchParams.get("session") ?? "";
		const call = (method: string, params: object) =>
			fetch(`${served.origin}/rpc`, {
				method: "POST",
				headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json" },
				body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
			});
		for (let turn = 0; turn < 50; turn += 1) {
			await call("turn.start", { sessionId: id, input: `question ${turn}` });
			await expect.poll(() => visitor.page.locator(".end").count(), { interval: 20 }).toBe(turn + 1);
		}
		const session = stage.sessionIds()[0] ?? "";
		await served.stop();
		// What was stored is stored again and again, with other numbers.
		const journal = path.join(stage.sessionDir(session), "journal.jsonl");
		const [header = "", ...lines] = readFileSync(journal, "utf8").trimEnd().split("\n");
		const events = lines.filter((line) => line.startsWith('{"seq":'));
		const many = Array.from({ length: 10_000 }, (_, index) =>
			(events[index % events.length] ?? "").replace(/^\{"seq":\d+/, `{"seq":${index + 1}`),
		);
		mkdirSync(path.dirname(journal), { recursive: true });
		writeFileSync(journal, `${[header, ...many].join("\n")}\n`);
		const again = await serveWeb(stage);
		const other = await visit(`${again.origin}/?session=${session}#token=${again.token}`);
		await other.page.locator(".end").last().waitFor();
		const painted = await other.page.evaluate(
			() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1,
		);
		const debugging = await other.context.newCDPSession(other.page);
		const { usedSize } = await debugging.send("Runtime.getHeapUsage");
		console.log(`10,000 events: first paint after ${Math.round(painted)} ms, heap ${Math.round(usedSize / 1e6)} MB`);
		expect(usedSize).toBeLessThan(150_000_000);
		await other.page.getByRole("button", { name: "Show earlier" }).click();
		await again.stop();
	});
});
