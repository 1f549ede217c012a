// What a session may come to, as the page shows it: plans, tool servers, budgets, summaries, calls that were stopped.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient } from "../support/gateway/gateway-client.ts";
import { connectSocket } from "../support/gateway/socket-client.ts";
import { fixture, writeServers } from "../support/mcp/mcp-stage.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wide = { viewport: { width: 1440, height: 900 } };

/** The page of a stage with a session that has begun. */
async function openPage(stage: Stage) {
	const served = await serveWeb(stage);
	const browser = await launch();
	const watched = await watch(await browser.newContext(wide));
	await beginSession(watched.page, served.address);
	return { ...served, ...watched, browser };
}

/** A person looks elsewhere, and what would call them is noted in `calls`. */
const elsewhere = `
	var calls = "";
	Object.defineProperty(document, "hidden", { get: () => true });
	window.Notification = class {
		static permission = "granted";
		constructor(title) {
			calls += title;
		}
	};
`;

const modeOf = (page: Page, name: string) => page.locator("select[aria-label=Mode] option:checked", { hasText: name });

/** Where the only session of the stage has its plan. */
function planFile(stage: Stage): string {
	const [id = ""] = stage.sessionIds();
	const state: { plan_slug: string } = JSON.parse(readFileSync(path.join(stage.sessionDir(id), "state.json"), "utf8"));
	return path.join(stage.shareDir, "plans", `${state.plan_slug}.md`);
}

/** Adds a table to the settings of the stage. */
function addSettings(stage: Stage, text: string): void {
	const file = path.join(stage.shareDir, "config.toml");
	writeFileSync(file, `${readFileSync(file, "utf8")}\n${text}\n`);
}

describe.skipIf(!hasBrowser)("the states of a session", () => {
	it("shows a plan before it asks about it, and goes on when it is approved", async () => {
		const stage = createStage({ scripts: [toolCall("e", "EnterPlanMode", {}), "text: Planning it."] });
		const { page, server, url } = await openPage(stage);
		await say(page, "move the basket");
		await page.getByLabel("Yes").check();
		await page.getByRole("button", { name: "Answer" }).click();
		await page.getByText("Planning it.").waitFor();
		await modeOf(page, "Plan").waitFor({ state: "attached" });
		stage.setScripts([
			toolCall("w", "WriteFile", { path: planFile(stage), content: "# Move the basket\n\n1. Read **basket.js**\n" }),
			toolCall("x", "ExitPlanMode", {}),
			"text: Revised.",
			toolCall("y", "ExitPlanMode", {}),
			"text: Carried out.",
		]);
		// The model reads its scripts at the start of a process.
		server.kill("SIGTERM");
		await server.exited;
		await serveWeb(stage, "--port", new URL(url).port);
		await page.getByRole("status").getByText("idle").waitFor();
		await say(page, "write it down");
		const plan = page.getByRole("region", { name: "Plan" });
		await plan.locator("h3", { hasText: "Move the basket" }).waitFor();
		await plan.locator("strong", { hasText: "basket.js" }).waitFor();
		const review = page.locator(".attention form");
		await review.getByLabel("Another answer to: Approve this plan").fill("leave the tests alone");
		await page.keyboard.press("Enter");
		await page.getByText("Revised.").waitFor();
		await page.getByText(/Answered in this window: leave the tests alone/).waitFor();
		await say(page, "and now?");
		await review.getByLabel("Approve", { exact: false }).first().waitFor();
		await decide(page, "1");
		await page.getByText("Carried out.").waitFor();
		await modeOf(page, "Ask").waitFor({ state: "attached" });
	});

	it("shows the servers of tools, those that failed too, and what each has", async () => {
		const stage = createStage({ scripts: [toolCall("c", "echo", { text: "hello-tool" }), "text: All done."] });
		writeServers(stage, { good: fixture(), broken: fixture("exit", "3") });
		const { page } = await openPage(stage);
		await say(page, "use it");
		const servers = page.locator(".panel section", { hasText: "Tool servers" });
		await servers.getByText("1 of 2 connected").waitFor();
		await servers.locator("li", { hasText: "good" }).getByText("10 tools").waitFor();
		await servers.locator("li", { hasText: "broken" }).getByText("failed").waitFor();
		await page.locator(".attention").getByText("echo of the tool server good").waitFor();
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		await page.getByText("hello-tool").first().waitFor();
	});

	it("warns once most of a budget is used, and says which one is exhausted", async () => {
		const call = (id: string) => toolCall(id, "Glob", { pattern: "*" });
		const stage = createStage({
			scripts: [1, 2, 3, 4, 5, 6].map((n) => call(`c${n}`)),
		});
		addSettings(stage, "[agentwire.limits]\nturn_tool_calls = 5");
		const { page } = await openPage(stage);
		await say(page, "look");
		const warning = "80 % of the turn's tool-calls budget is used";
		await page.locator(".note.warning", { hasText: warning }).waitFor();
		await page.locator(".panel .warning-text", { hasText: warning }).waitFor();
		await page.locator(".end.danger", { hasText: /budget/ }).waitFor();
		expect(await page.locator(".end").innerText()).toContain("5 tool calls");
	});

	it("calls a person who looks elsewhere for an approval, and not for what another program is asked", async () => {
		const stage = createStage({
			scripts: [
				toolCall("a", "lookup", {}),
				"text: Looked it up.",
				toolCall("b", "Shell", { command: "touch made" }),
				"text: Made it.",
			],
		});
		const { page, url, address } = await openPage(stage);
		await page.evaluate(elsewhere);
		const called = () => page.evaluate("calls");
		const [id] = stage.sessionIds();
		const token = /#token=(.+)$/.exec(address)?.[1] ?? "";
		const wire = await connectSocket(Number(new URL(url).port), `/wire?session=${id}`, token);
		const external_tools = [{ name: "lookup", description: "Looks up.", parameters: { type: "object" } }];
		await wire.request("i", "initialize", { protocol_version: "1.10", external_tools });
		await say(page, "look it up");
		const asked = await wire.until(({ method }) => method === "request");
		const { payload } = asked["params"] as { payload: { id: string } };
		const return_value = { is_error: false, output: "found", message: "", display: [] };
		wire.send({ id: asked["id"], result: { tool_call_id: payload.id, return_value } });
		await page.getByText("Looked it up.").waitFor();
		expect(await called()).toBe("");
		await say(page, "make it");
		await page.locator(".attention pre.command").waitFor();
		await expect.poll(called).toBe("agentwire waits for you");
	});

	it("calls nobody for what was answered while its window was offline", async () => {
		const call = toolCall("a", "Shell", { command: "touch made" });
		const stage = createStage({ scripts: ["text: Hello.", call, "text: Made it."] });
		const { url, address } = await serveWeb(stage);
		const context = await (await launch()).newContext(wide);
		const { page } = await watch(context);
		await page.clock.install();
		await beginSession(page, address);
		await say(page, "hello");
		await page.getByText("Hello.").waitFor();
		await page.evaluate(elsewhere);
		const [sessionId = ""] = stage.sessionIds();
		const client = new GatewayClient(Number(new URL(url).port), /#token=(.+)$/.exec(address)?.[1] ?? "");
		await context.setOffline(true);
		// A stream that is silent for longer counts as broken.
		await page.clock.fastForward(33_000);
		await page.getByText("offline, trying again").waitFor();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		await client.result("turn.start", { sessionId, input: "make it" });
		const { data } = await stream.until((message) => message.data["type"] === "interaction.requested");
		const { id: interactionId } = data["interaction"] as { id: string };
		const answer = { kind: "approval", decision: "approve", feedback: "" };
		await client.result("interaction.respond", { sessionId, interactionId, answer });
		await stream.until((message) => message.data["type"] === "turn.ended");
		await context.setOffline(false);
		await page.clock.fastForward(6_000);
		await page.getByText("Made it.").waitFor();
		await page.clock.fastForward(1_000);
		expect(await page.evaluate("calls")).toBe("");
	});

	it("keeps the newer state of a session when an older answer about it comes later", async () => {
		const stage = createStage({ scripts: [toolCall("a", "Shell", { command: "touch made; sleep 600" })] });
		const { page } = await openPage(stage);
		const state = (text: string) => page.locator(".session-row time", { hasText: text });
		await say(page, "run it");
		await page.locator(".attention pre.command").waitFor();
		await state("waiting for you").waitFor();
		const held = createDeferred<void>();
		const released = createDeferred<void>();
		let isFirst = true;
		await page.route("**/rpc", async (route) => {
			if (!isFirst || route.request().postDataJSON().method !== "sessions.loaded") return await route.continue();
			isFirst = false;
			const response = await route.fetch();
			held.resolve();
			await released.promise;
			await route.fulfill({ response });
		});
		// Another title has the page ask anew.
		await page.locator("h1 .rename").click();
		await page.getByLabel("Title").fill("Another title");
		await page.getByLabel("Title").press("Enter");
		await held.promise;
		await decide(page, "1");
		await state("running").waitFor();
		const late = page.waitForEvent("requestfinished", (request) => /sessions.loaded/.test(request.postData() ?? ""));
		released.resolve();
		await late;
		await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
		expect(await state("running").count()).toBe(1);
	});

	it("marks where the context was summarized", async () => {
		const answers = ["First", "Second", "Third"].map((word) => `${word} answer.`);
		const stage = createStage({ scripts: [...answers, "A summary.", "Last answer."].map((text) => `text: ${text}`) });
		const { page } = await openPage(stage);
		for (const answer of answers) {
			await say(page, "go on");
			await page.getByText(answer).waitFor();
		}
		await say(page, "/compact the names");
		await page.locator(".note.mark", { hasText: "was summarized" }).waitFor();
		await say(page, "and the last");
		await page.getByText("Last answer.").waitFor();
		await page.reload();
		await page.getByText("Last answer.").waitFor();
		expect(await page.locator(".note.mark").count()).toBe(1);
		expect(await page.locator(".says").allInnerTexts()).toEqual([
			...answers,
			"The context has been compacted.",
			"Last answer.",
		]);
	});

	it("shows a call that was stopped as interrupted, while it runs and while it waits", async () => {
		const stage = createStage({
			scripts: [
				toolCall("a", "Shell", { command: "touch made; echo begun; sleep 600" }),
				toolCall("b", "Shell", { command: "touch never" }),
			],
		});
		const { page } = await openPage(stage);
		await say(page, "run it");
		await page.locator(".attention pre.command").waitFor();
		await page.locator(".session-row time", { hasText: "waiting for you" }).waitFor();
		await decide(page, "1");
		await page.locator(".session-row time", { hasText: "running" }).waitFor();
		await page.locator(".card.running pre.output", { hasText: "begun" }).waitFor();
		await page.getByRole("button", { name: "Stop" }).click();
		await page.getByText("Interrupted.").waitFor();
		expect(await page.locator(".card .state").innerText()).toMatch(/^interrupted/);
		await say(page, "again");
		await page.locator(".attention pre.command").waitFor();
		await page.getByRole("button", { name: "Stop" }).click();
		await page.getByText("Interrupted.").nth(1).waitFor();
		for (const again of [false, true]) {
			if (again) await page.reload();
			await page.getByText("Interrupted.").nth(1).waitFor();
			const states = await page.locator(".card .state").allInnerTexts();
			expect(states.map((text) => text.split(" · ")[0])).toEqual(["interrupted", "interrupted"]);
			expect(await page.locator(".card.interrupted").count()).toBe(2);
		}
	});
});
