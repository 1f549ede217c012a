// What a person reads: what is asked of them, what goes on and for how long, texts as they were meant.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { createHeldStage } from "../support/models/held-provider.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wide = { viewport: { width: 1440, height: 900 } };

describe.skipIf(!hasBrowser)("reading", () => {
	it("asks for each act in words, and says what an approval for the session covers", async () => {
		const stage = createStage({
			scripts: [
				toolCall("a", "Shell", { command: "touch made" }),
				toolCall("b", "StrReplaceFile", { path: "cart.js", edit: { old: "one", new: "two" } }),
				toolCall("c", "WriteFile", { path: "fresh.js", content: "x\n" }),
				"text: All done.",
			],
		});
		writeFileSync(path.join(stage.workDir, "cart.js"), "one\n");
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "work");
		const title = (text: string) => page.locator(".attention").getByRole("heading", { name: text, exact: true });
		await title("Run this command?").waitFor();
		await page.getByRole("button", { name: /^Allow touch … in this session/ }).waitFor();
		await decide(page, "1");
		await title("Edit cart.js?").waitFor();
		await page.getByRole("button", { name: /^Allow changes to cart\.js in this session/ }).waitFor();
		await decide(page, "1");
		await title("Create fresh.js?").waitFor();
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		expect(await page.locator(".card header b").allInnerTexts()).toEqual(["Edit", "Write"]);
	});

	it("answers a question and approves a plan with one key", async () => {
		const question = { question: "Which one?", options: [{ label: "Left" }, { label: "Right" }] };
		const stage = createStage({
			scripts: [toolCall("a", "AskUserQuestion", { questions: [question] }), "text: All done."],
		});
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "ask");
		await page.getByLabel("Right").waitFor();
		await decide(page, "2");
		await page.getByText("Answered in this window: Right").waitFor();
		await page.getByText("All done.").waitFor();
	});

	it("says below the last words what goes on and for how long, and moves nothing in the header", async () => {
		const { stage } = await createHeldStage();
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext({ ...wide, reducedMotion: "reduce" }));
		await beginSession(page, address);
		const box = () => page.locator("h1").boundingBox();
		await page.locator(".status", { hasText: "idle" }).waitFor();
		const before = await box();
		await say(page, "think");
		await page.locator(".activity", { hasText: /Thinking\s*[2-9] s/ }).waitFor();
		expect(await box()).toEqual(before);
		expect(await page.evaluate("getComputedStyle(document.querySelector('.activity .words')).animationName")).toBe(
			"none",
		);
	});

	it("finds words of the conversation, one after the other, without a change of it", async () => {
		const stage = createStage({ scripts: ["text: The basket is full.", "text: Another basket."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "look");
		await page.getByText("The basket is full.").waitFor();
		await say(page, "again");
		await page.getByText("Another basket.").waitFor();
		await page.keyboard.press("Escape");
		await page.locator(".log").focus();
		await page.keyboard.press("f");
		await page.getByLabel("Find in this conversation").fill("BASKET");
		await page.getByText("1 of 2").waitFor();
		await page.keyboard.press("Enter");
		await page.keyboard.press("Enter");
		await page.getByText("2 of 2").waitFor();
		expect(await page.evaluate("[...CSS.highlights.get('found-now')][0].startContainer.nodeValue")).toBe(
			"Another basket.",
		);
		await page.getByLabel("Find in this conversation").fill("nowhere");
		await page.getByText("Not found").waitFor();
		await page.keyboard.press("Escape");
		expect(await page.getByLabel("Find in this conversation").count()).toBe(0);
	});

	it("follows a message that was sent from further up, and stays at the end when the window turns", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext({ viewport: { width: 780, height: 390 } }));
		await beginSession(page, address);
		await say(page, "tell");
		const first = await nextRequest();
		await first.say(Array.from({ length: 60 }, (_, index) => `Paragraph ${index}.`).join("\n\n"));
		first.end();
		await page.getByText("Paragraph 59.").waitFor();
		const log = page.locator(".log");
		await log.evaluate((element: { scrollTop: number }) => {
			element.scrollTop = 0;
		});
		await page.getByRole("button", { name: "Jump to the end" }).waitFor();
		await say(page, "and then?");
		const second = await nextRequest();
		await second.say("That is all.");
		second.end();
		await page.getByText("That is all.").waitFor();
		await page.locator(".to-end").waitFor({ state: "detached" });
		const isAtEnd = () =>
			log.evaluate(
				(element: { scrollHeight: number; scrollTop: number; clientHeight: number }) =>
					element.scrollHeight - element.scrollTop - element.clientHeight < 40,
			);
		await expect.poll(isAtEnd).toBe(true);
		await page.setViewportSize({ width: 390, height: 780 });
		await expect.poll(isAtEnd).toBe(true);
	});

	it("keeps words of tables whole, honors alignment, and ends addresses before the full stop", async () => {
		const rows = `| Measurement | ${"Responsibility | ".repeat(9)}\n|:--|--:|${":-:|".repeat(8)}\n| \`src/one/cart.test.js\` | 12 | ${"considerable | ".repeat(8)}`;
		const { stage, nextRequest } = await createHeldStage();
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext({ viewport: { width: 390, height: 800 } }));
		await beginSession(page, address);
		await say(page, "show");
		const answer = await nextRequest();
		await answer.say(
			`See https://example.com/a_(b). Also (https://example.com/c), https://example.com/d?e=f!\n\n${rows}\n\nمرحبا بالعالم`,
		);
		answer.end();
		await page.getByRole("cell", { name: "12" }).waitFor();
		expect(await page.evaluate("[...document.querySelectorAll('.says a')].map((each) => each.href)")).toEqual([
			"https://example.com/a_(b)",
			"https://example.com/c",
			"https://example.com/d?e=f",
		]);
		const heights = "new Set([...document.querySelectorAll('.table th')].map((each) => each.clientHeight)).size";
		expect(await page.evaluate(heights)).toBe(1);
		const table = "document.querySelector('.table')";
		expect(await page.evaluate(`${table}.querySelector("code").getClientRects().length`)).toBe(1);
		expect(await page.evaluate(`${table}.scrollWidth > ${table}.clientWidth`)).toBe(true);
		expect(await page.evaluate(`getComputedStyle(${table}.querySelectorAll('td')[1]).textAlign`)).toBe("end");
		const last = "[...document.querySelectorAll('.says p')].at(-1)";
		expect(await page.evaluate(`getComputedStyle(${last}).direction`)).toBe("rtl");
	});
});
