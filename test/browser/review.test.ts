// What a person reviews with: both views of a change, the palette, sessions that are searched, renamed, forked and archived, plans,
// subagents, and a window that may only look.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wide = { viewport: { width: 1440, height: 900 } };

describe.skipIf(!hasBrowser)("reviewing", () => {
	it("shows a change side by side or unified, by width and by choice, with the words that differ", async () => {
		const edit = { path: "a.txt", edit: { old: "two", new: "zwei" } };
		const stage = createStage({ scripts: [toolCall("c", "StrReplaceFile", edit), "text: All done."] });
		writeFileSync(path.join(stage.workDir, "a.txt"), "one\nline two of three\nthree\n");
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "translate");
		await page.locator(".attention .diff.split").waitFor();
		const row = page.locator(".attention .diff.split tr", { hasText: "zwei" });
		expect(await row.locator("td.text").allInnerTexts()).toEqual(["line two of three", "line zwei of three"]);
		expect(await row.locator("mark").allInnerTexts()).toEqual(["two", "zwei"]);
		await page.setViewportSize({ width: 800, height: 900 });
		await page.locator(".attention .diff:not(.split)").waitFor();
		await page.getByRole("button", { name: "Side by side" }).click();
		await page.locator(".attention .diff.split").waitFor();
		await page.reload();
		await page.locator(".attention .diff.split").waitFor();
	});

	it("colors code in a change, and marks the words that differ in it", async () => {
		const edit = { path: "a.ts", edit: { old: "1", new: "2" } };
		const stage = createStage({ scripts: [toolCall("c", "StrReplaceFile", edit), "text: All done."] });
		writeFileSync(path.join(stage.workDir, "a.ts"), "// first\nconst one = 1;\n");
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "change it");
		const row = page.locator(".attention .diff tr", { hasText: "const" });
		await row.locator(".hl-keyword", { hasText: "const" }).first().waitFor();
		expect(await row.locator("td.text").allInnerTexts()).toEqual(["const one = 1;", "const one = 2;"]);
		expect(await row.locator("mark").allInnerTexts()).toEqual(["1", "2"]);
		await page.locator(".attention .hl-comment", { hasText: "// first" }).first().waitFor();
	});

	it("offers no mode that settings forbid, in the switch and in the palette", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		appendFileSync(path.join(stage.shareDir, "config.toml"), '\n[permission]\nforbid_modes = ["yolo"]\n');
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await page.locator("select[aria-label=Mode] option", { hasText: "Yolo" }).waitFor({ state: "detached" });
		expect(await page.locator("select[aria-label=Mode] option").allInnerTexts()).toEqual(["Ask first", "Plan", "Auto"]);
		await page.keyboard.press("Control+k");
		await page.getByRole("combobox", { name: "Session or command" }).fill("mode");
		await page.getByText("Mode: Auto").waitFor();
		expect(await page.getByText("Mode: Yolo").count()).toBe(0);
	});

	it("finds, renames, forks and archives sessions, with the palette by keys alone", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "first words");
		await page.getByText("All done.").waitFor();
		const palette = async (words: string) => {
			await page.keyboard.press("Control+k");
			await page.getByRole("combobox", { name: "Session or command" }).fill(words);
			await page.keyboard.press("Enter");
		};
		await palette("mode plan");
		await page.locator("select[aria-label=Mode] option:checked", { hasText: "Plan" }).waitFor({ state: "attached" });
		const before = page.url();
		await palette("fork");
		await page.getByRole("dialog", { name: "Fork" }).waitFor();
		await page.keyboard.press("Enter");
		await page.waitForURL((now) => now.href !== before);
		await page.getByText("All done.").waitFor();
		await page.locator("h1 .rename").click();
		await page.getByLabel("Title").fill("The copy");
		await page.getByLabel("Title").press("Enter");
		await page.locator(".title", { hasText: "The copy" }).waitFor();
		await page.getByLabel("Search sessions").fill("first");
		await page.locator(".title", { hasText: "The copy" }).waitFor({ state: "detached" });
		await page.getByLabel("Search sessions").fill("");
		await palette("archive");
		await page.getByRole("heading", { name: "What should the agent work on?" }).waitFor();
		await page.locator(".session-row .title", { hasText: "The copy" }).waitFor({ state: "detached" });
		await palette("first words");
		await page.getByText("All done.").waitFor();
	});

	it("lets a token that observes look, and do nothing", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: All done."] });
		const { address, url } = await serveWeb(stage);
		const { tokens }: { tokens: { token: string; scope: string }[] } = JSON.parse(
			readFileSync(path.join(stage.shareDir, "gateway.json"), "utf8"),
		);
		const observing = tokens.find(({ scope }) => scope === "observe")?.token ?? "";
		const browser = await launch();
		const { page } = await watch(await browser.newContext(wide));
		await beginSession(page, address);
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		const other = (await watch(await browser.newContext(wide))).page;
		await other.goto(`${url}/#token=${observing}`);
		await other.locator(".session-row button").first().click();
		await other.locator(".prompt", { hasText: "make it" }).waitFor();
		expect(await other.getByLabel("Message to the agent").isDisabled()).toBe(true);
		expect(await other.getByRole("button", { name: "New session" }).isDisabled()).toBe(true);
		await decide(other, "1");
		await page.getByRole("button", { name: /^Allow\s+1/ }).click();
		await other.getByText(/Allowed once by window/).waitFor();
	});

	it("nests a subagent with its steps in the call that started it", async () => {
		const stage = createStage({
			scripts: [
				toolCall("a", "Agent", { description: "look around", prompt: "look", subagent_type: "explore" }),
				// A short report would be asked for again.
				`text: ${"The subagent speaks. ".repeat(20)}`,
				"text: All done.",
			],
		});
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "delegate");
		await page.getByText("All done.", { exact: true }).waitFor();
		const lane = page.locator(".card details.lane");
		expect(await lane.locator("> summary").innerText()).toMatch(/Subagent · 1 step/);
		await lane.locator("> summary").click();
		await lane.getByText("The subagent speaks.").first().waitFor();
	});

	it("shows nothing twice and loses nothing after thirty seconds without a network", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: All done."] });
		const { address } = await serveWeb(stage);
		const browser = await launch();
		const context = await browser.newContext(wide);
		const { page } = await watch(context);
		await page.clock.install();
		await beginSession(page, address);
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		const other = (await watch(await browser.newContext(wide))).page;
		await other.goto(address);
		await other.locator(".session-row button").first().click();
		await context.setOffline(true);
		await other.getByRole("button", { name: /^Allow\s+1/ }).click();
		await other.getByText("All done.").waitFor();
		// A stream that is silent for longer counts as broken.
		await page.clock.fastForward(33_000);
		await page.getByText("offline, trying again").waitFor();
		await context.setOffline(false);
		await page.clock.fastForward(6_000);
		await page.getByText("All done.").waitFor();
		await page.getByText(/Allowed once by window/).waitFor();
		expect(await page.locator(".prompt").count()).toBe(1);
		expect(await page.locator(".card").count()).toBe(1);
	});
});
