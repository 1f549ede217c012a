// The web page in a real browser: what a person sees and does, from the built executable to the pixels.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { beginSession, chromiumPath, closeBrowser, say, serveWeb, visit } from "../support/browser/browser.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";

afterAll(closeBrowser);

describe.skipIf(chromiumPath === null)("the web page", () => {
	it("starts a session, streams an answer and shows its parts", async () => {
		const stage = createStage({
			scripts: ["text: Hello **you** and `code`, [a link](https://example.org) and <b>no tag</b>."],
		});
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, "hi there");
		await page.locator(".markdown").waitFor();
		expect(await page.locator(".markdown").textContent()).toBe("Hello you and code, a link and <b>no tag</b>.");
		expect(await page.locator(".markdown strong").textContent()).toBe("you");
		expect(await page.locator(".markdown a").getAttribute("rel")).toBe("noopener noreferrer");
		await page.locator(".end").waitFor();
		expect(await page.locator(".prompt").textContent()).toContain("hi there");
		expect(page.url()).not.toContain(served.token);
		expect(visitor.requested.filter((address) => address.includes(served.token))).toEqual([]);
		expect([visitor.violations, visitor.faults]).toEqual([[], []]);
		await served.stop();
	});

	it("lets one of two windows approve, and tells the other", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const served = await serveWeb(stage);
		const desk = await visit(served.address);
		await beginSession(desk);
		const phone = await visit(`${desk.page.url()}#token=${served.token}`, { viewport: { width: 390, height: 844 } });
		await phone.page.getByLabel("Message").waitFor();
		await say(desk, "make it");
		for (const { page } of [desk, phone]) {
			await page.getByText("wants to").waitFor();
			expect(await page.locator(".attention .command").textContent()).toContain("touch made");
		}
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		await phone.page.getByRole("button", { name: "Allow", exact: false }).first().click();
		await desk.page.locator(".end").waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
		await desk.page.getByText("Allowed in another window").waitFor();
		await phone.page.getByText("Allowed by you").waitFor();
		expect(await desk.page.locator(".attention").count()).toBe(0);
		await served.stop();
	});

	it("answers by keys: rejects with words, which the model is given", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: I see."] });
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, "make it");
		await page.locator(".attention").waitFor();
		await page.keyboard.press("4");
		await page.getByLabel("What should it do instead?").fill("write it by hand");
		await page.keyboard.press("Enter");
		await page.getByText("Rejected by you: write it by hand").waitFor();
		await page.getByText("I see.").waitFor();
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		expect(await page.locator(".call.refused").count()).toBe(1);
		await served.stop();
	});

	it("shows a change of a file as a difference, and counts it", async () => {
		const change = { path: "a.txt", edit: { old: "two", new: "2\nand a half" } };
		const stage = createStage({ scripts: [toolCall("c", "StrReplaceFile", change), "text: done"] });
		writeFileSync(path.join(stage.workDir, "a.txt"), "one\ntwo\nthree\n");
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, "change it");
		await page.locator(".attention .difference").waitFor();
		expect(await page.locator(".attention tr.removed .line").allTextContents()).toEqual(["two"]);
		expect(await page.locator(".attention tr.added .line").allTextContents()).toEqual(["2", "and a half"]);
		await page.keyboard.press("1");
		await page.locator(".end").waitFor();
		expect(await page.locator(".panel .change").textContent()).toContain("+2");
		await served.stop();
	});

	it("asks a question as a form", async () => {
		const questions = [
			{
				question: "Which colour?",
				header: "Colour",
				options: [{ label: "Red" }, { label: "Blue", description: "calm" }],
			},
		];
		const stage = createStage({ scripts: [toolCall("c", "AskUserQuestion", { questions }), "text: Noted."] });
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, "ask me");
		await page.getByLabel(/^Blue/).check();
		await page.getByRole("button", { name: "Answer" }).click();
		await page.getByText("Noted.").waitFor();
		await page.getByText("Answered by you").waitFor();
		await served.stop();
	});

	it("gives a session another title, in every window", async () => {
		const stage = createStage();
		const served = await serveWeb(stage);
		const desk = await visit(served.address);
		await beginSession(desk);
		await say(desk, "first words");
		await desk.page.locator(".end").waitFor();
		const other = await visit(`${desk.page.url()}#token=${served.token}`);
		await other.page.getByRole("button", { name: "first words" }).first().waitFor();
		await desk.page.locator("h1 .title").click();
		await desk.page.getByLabel("Title").fill("Another title");
		await desk.page.getByLabel("Title").press("Enter");
		await other.page.locator("h1").getByText("Another title").waitFor();
		await desk.page.locator(".entry-title").getByText("Another title").waitFor();
		await served.stop();
	});

	it("goes on where it was after a reload in the middle of a turn, and stops it", async () => {
		const stage = createStage({
			scripts: ["text: before\n", toolCall("c", "Shell", { command: "sleep 60" })].slice(1),
		});
		const served = await serveWeb(stage, "--yolo");
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, "sleep");
		await page.locator(".call.running").waitFor();
		await page.reload();
		await page.locator(".call.running").waitFor();
		expect(await page.locator(".prompt").count()).toBe(1);
		await page.getByRole("button", { name: "Stop" }).click();
		await page.getByText(/Stopped after/).waitFor();
		expect(await page.locator(".call.interrupted, .call.failed").count()).toBe(1);
		await served.stop();
	});

	it("loses nothing while it is offline", async () => {
		const stage = createStage({ scripts: ["text: first", "text: second"] });
		const served = await serveWeb(stage);
		const away = await visit(served.address);
		await beginSession(away);
		await say(away, "one");
		await away.page.getByText("first", { exact: true }).waitFor();
		const other = await visit(`${away.page.url()}#token=${served.token}`);
		await other.page.getByText("first", { exact: true }).waitFor();
		await away.context.setOffline(true);
		await say(other, "two");
		await other.page.getByText("second", { exact: true }).waitFor();
		await away.context.setOffline(false);
		await away.page.getByText("second", { exact: true }).waitFor();
		expect(await away.page.locator(".prompt").allTextContents()).toEqual(["one", "two"]);
		expect(await away.page.locator(".speech").allTextContents()).toEqual(["first", "second"]);
		await served.stop();
	});

	it("says that the gateway is gone, and goes on when it is back", async () => {
		const stage = createStage({ scripts: ["text: first", "text: second"] });
		const served = await serveWeb(stage);
		const visitor = await visit(served.address);
		const { page } = visitor;
		await beginSession(visitor);
		await say(visitor, "one");
		await page.locator(".end").waitFor();
		served.server.kill("SIGKILL");
		await served.server.exited;
		await page.getByText("Offline", { exact: true }).waitFor();
		const again = await serveWeb(stage, "--port", new URL(served.origin).port);
		await page.getByText("Idle", { exact: true }).waitFor();
		await say(visitor, "two");
		await page.getByText("two", { exact: true }).waitFor();
		await expect.poll(() => page.locator(".end").count()).toBe(2);
		await again.stop();
	});
});
