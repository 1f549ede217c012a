// The page in a real browser, against the built executable and the scripted model.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

describe.skipIf(!hasBrowser)("the page", () => {
	it("begins a session, streams an answer, shows a call and settles its approval by a key", async () => {
		const stage = createStage({
			scripts: [
				`text: I will make **it**.\n${toolCall("c", "Shell", { command: "touch made; echo hello-output" })}`,
				"text: All done.",
			],
		});
		const { address, url } = await serveWeb(stage);
		const { page, requests, faults } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		expect(page.url()).not.toContain("token");
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		expect(await page.locator("strong", { hasText: "it" }).count()).toBeGreaterThan(0);
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		await page.getByText(/Allowed once in this window/).waitFor();
		await page.getByText("hello-output", { exact: true }).waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
		expect(faults).toEqual([]);
		expect(requests.filter((each) => !each.startsWith(url) || each.includes("token"))).toEqual([]);
	});

	it("decides nothing by what is typed into a field, empty or not", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" })] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		const list = "1. look\n2. think\n3. stop\n4. say why";
		const field = page.getByLabel("Message to the agent");
		for (const [index, line] of list.split("\n").entries()) {
			if (index > 0) await page.keyboard.press("Shift+Enter");
			await page.keyboard.type(line);
		}
		expect(await field.inputValue()).toBe(list);
		await field.fill("");
		for (const key of ["1", "2", "3", "4"] as const) {
			await page.keyboard.press(key);
			await page.keyboard.press("Backspace");
		}
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await page.getByRole("button", { name: "Reject with a reason" }).click();
		await page.keyboard.type("1");
		await page.keyboard.press("Backspace");
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		await page.keyboard.press("Escape");
		await page.keyboard.press("3");
		await page.locator(".card.refused").waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
	});

	it("shows what a command hides, and lets it be allowed only once its end was seen", async () => {
		const command = `touch made #\u202e${"\n".repeat(40)}${Array.from({ length: 60 }, (_, n) => `echo line ${n}`).join("\n")}\ntouch end`;
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command }), "text: All done."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "make it");
		const bar = page.getByRole("region", { name: "Waits for you" });
		await bar.getByText("invisible or change how the text reads").waitFor();
		expect(await bar.locator("pre .escape").allInnerTexts()).toEqual([
			"\\u{202e}",
			expect.stringContaining("\\u{a}×40"),
		]);
		const allow = bar.getByRole("button", { name: /^Allow 1/ });
		const more = bar.getByRole("button", { name: /^\d+ more lines?:/ });
		await more.waitFor();
		expect(await allow.isDisabled()).toBe(true);
		await decide(page, "1");
		await decide(page, "2");
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		await more.click();
		await bar.locator(".shown").hover();
		await page.mouse.wheel(0, 10_000);
		await more.waitFor({ state: "detached" });
		expect(await allow.isEnabled()).toBe(true);
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		expect(existsSync(path.join(stage.workDir, "end"))).toBe(true);
	});

	it("works from another machine without HTTPS, where browsers offer less", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		const { address, url } = await serveWeb(stage, "--allow-host", "agent.test");
		const { port } = new URL(url);
		const named = await launch("--host-resolver-rules=MAP agent.test 127.0.0.1");
		const { page, faults } = await watch(await named.newContext());
		await beginSession(page, `http://agent.test:${port}/${new URL(address).hash}`);
		expect(await page.evaluate("isSecureContext")).toBe(false);
		await say(page, "go");
		await page.getByText("All done.").waitFor();
		expect(faults).toEqual([]);
	});

	it("loads at most 60 kB before it can be used", async () => {
		const { address } = await serveWeb(createStage());
		const { page } = await watch(await (await launch()).newContext());
		const sizes: Promise<number>[] = [];
		page.on("requestfinished", (request) => {
			if (request.method() === "GET") sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
		});
		await page.goto(address);
		await page.getByRole("button", { name: "Begin a session" }).waitFor();
		await page.waitForLoadState("networkidle");
		const all = await Promise.all(sizes);
		expect(all.length).toBeGreaterThan(2);
		expect(all.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
	});

	it("gives a session another title, in every window", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "first words");
		await page.getByText("All done.").waitFor();
		const other = await watch(await (await launch()).newContext());
		await other.page.goto(address);
		await other.page.locator(".title", { hasText: "first words" }).click();
		await other.page.locator("h1", { hasText: "first words" }).waitFor();
		await page.locator("h1 .rename").click();
		await page.getByLabel("Title").fill("Another title");
		await page.getByLabel("Title").press("Enter");
		await other.page.locator("h1", { hasText: "Another title" }).waitFor();
		await page.locator(".title", { hasText: "Another title" }).waitFor();
	});

	it("shows two windows one session: one approves, the other is told by whom", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: All done."] });
		const { address } = await serveWeb(stage);
		const browser = await launch();
		const one = await watch(await browser.newContext());
		const other = await watch(await browser.newContext());
		await beginSession(one.page, address);
		await say(one.page, "make it");
		await one.page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await other.page.goto(address);
		await other.page.locator(".session-row button").first().click();
		await other.page.getByRole("button", { name: /^Allow\s+1/ }).click();
		await one.page.getByText(/Allowed once by window/).waitFor();
		await one.page.getByText("All done.").waitFor();
		await other.page.getByText("All done.").waitFor();
		expect(await one.page.locator(".attention").count()).toBe(0);
	});

	it("is shown what was asked while no window was open", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: All done."] });
		const { address, url } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		const sessionId = decodeURIComponent(new URL(page.url()).hash.slice("#session=".length));
		await page.close();
		const token = readTokens(path.join(stage.shareDir, "gateway.json")).control ?? "";
		const client = new GatewayClient(Number(new URL(url).port), token);
		const watching = await client.stream(`sessions=${sessionId}&role=observe`);
		await watching.until(({ name }) => name === "state");
		await client.result("turn.start", { sessionId, input: "make it" });
		await watching.until(isEvent("interaction.requested"));
		const later = (await watch(await (await launch()).newContext())).page;
		await later.goto(address);
		await later.locator(".session-row button").first().click();
		await later.getByRole("heading", { name: "Run this command?" }).waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		await decide(later, "1");
		await later.getByText("All done.").waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
	});

	it("takes a rejection with its reason, and says that it was rejected", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: Then not."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await decide(page, "4");
		await page.getByLabel("Why you reject it").fill("not in this directory");
		await page.keyboard.press("Enter");
		await page.getByText(/Rejected in this window: “not in this directory”/).waitFor();
		await page.locator(".card.refused").waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
	});

	it("shows a change as a diff before it is made, and counts it afterwards", async () => {
		const edit = { path: "a.txt", edit: { old: "two", new: "zwei" } };
		const stage = createStage({ scripts: [toolCall("c", "StrReplaceFile", edit), "text: All done."] });
		writeFileSync(path.join(stage.workDir, "a.txt"), "one\ntwo\nthree\n");
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext({ viewport: { width: 1440, height: 900 } }));
		await beginSession(page, address);
		await say(page, "translate");
		await page.locator(".attention .removed", { hasText: "two" }).waitFor();
		await page.locator(".attention .added", { hasText: "zwei" }).waitFor();
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		expect(await page.locator(".panel .change").innerText()).toMatch(/a\.txt\s+\+1 −1/);
	});

	it("answers a question by a form", async () => {
		const question = { question: "Which color?", header: "Color", options: [{ label: "Red" }, { label: "Blue" }] };
		const stage = createStage({
			scripts: [toolCall("c", "AskUserQuestion", { questions: [question] }), "text: All done."],
		});
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "ask me");
		await page.getByLabel("Blue").check();
		await page.getByRole("button", { name: "Answer" }).click();
		await page.getByText("All done.").waitFor();
		await page.getByText(/Answered in this window: Blue/).waitFor();
	});

	it("loses nothing when it is reloaded, or the server is killed in the middle of a turn", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: All done."] });
		const { address, server, url } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await page.reload();
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		server.kill("SIGKILL");
		await server.exited;
		await page.getByText("offline, trying again").waitFor();
		stage.setScripts(["text: Here again."]);
		await serveWeb(stage, "--port", new URL(url).port);
		await page.getByText("The program ended in the middle of this turn.").waitFor();
		expect(await page.locator(".card .state").innerText()).toBe("interrupted");
		expect(await page.locator(".attention").count()).toBe(0);
		await say(page, "hello");
		await page.getByText("Here again.").waitFor();
		expect(await page.locator(".prompt").allInnerTexts()).toEqual(["make it", "hello"]);
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
	});
});
