// A session of ten thousand events: what a person waits for it, and what it takes. Times are printed and their bounds are wide, because
// machines differ; memory is not that different.
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";
import { createHeldStage } from "../support/models/held-provider.ts";
import { hasBrowser, launch, serveWeb, watch } from "./browser.ts";

/** Each has six events: its beginning, a text, a call that is requested, begins and ends, and the status. */
const steps = 1700;
const heapLimit = 150e6;

/** Bytes of memory that the page's own objects take, once what is not needed is gone. */
async function heapOf(page: Page): Promise<number> {
	const session = await page.context().newCDPSession(page);
	await session.send("HeapProfiler.collectGarbage");
	const { usedSize } = await session.send("Runtime.getHeapUsage");
	await session.detach();
	return usedSize;
}

const scripts = [
	...Array.from(
		{ length: steps },
		(_, n) => `text: **Step** ${n} of \`many\`.\n${toolCall(`c${n}`, "Glob", { pattern: `*.${n}` })}`,
	),
	"text: All steps done.",
];

/** Serves the stage, whose session takes all the steps. */
async function serveLongSession(stage: Stage) {
	const served = await serveWeb(stage);
	const { control = "" } = readTokens(path.join(stage.shareDir, "gateway.json"));
	const client = new GatewayClient(Number(new URL(served.url).port), control);
	const sessionId = await client.createSession({ maxSteps: steps + 10 });
	const stream = await client.stream(`sessions=${sessionId}&grade=block`);
	await client.result("turn.start", { sessionId, input: "take many steps" });
	const { data } = await stream.until(isEvent("turn.ended"));
	expect(data["seq"]).toBeGreaterThan(10_000);
	return { ...served, client, sessionId };
}

/** Opens the session, as a person does who has its address. */
async function openSession(page: Page, address: string, url: string, sessionId: string): Promise<void> {
	await page.goto(address);
	await page.locator(".session-row button").waitFor();
	await page.goto(`${url}/#session=${sessionId}`);
	await page.reload();
}

/**
 * Begins to watch what is shown at the top of the conversation: `kept` are all of its nodes, `tops` where the first line in sight is
 * in each frame.
 */
const watchPlace = `(() => {
	const log = document.querySelector(".log");
	log.scrollTop = 0;
	const kept = [...document.querySelectorAll(".turn, .turn *")];
	const line = document.querySelector(".turn > *");
	const tops = [];
	window.place = { kept, tops };
	const look = () => {
		if (window.place.tops !== tops) return;
		tops.push(line.getBoundingClientRect().top);
		requestAnimationFrame(look);
	};
	return new Promise((begun) => requestAnimationFrame(() => begun(look())));
})()`;

/** What became of it: how many nodes are gone, and how far the line moved at most. */
const judgePlace = `(() => {
	const { kept, tops } = window.place;
	return JSON.stringify({
		gone: kept.filter((node) => !node.isConnected && node.textContent !== "").length,
		moved: Math.max(...tops) - Math.min(...tops),
	});
})()`;

describe.skipIf(!hasBrowser)("a long session", () => {
	it("is shown soon, from its end, and can be read to its beginning", { timeout: 180_000 }, async () => {
		const { address, url, sessionId } = await serveLongSession(createStage({ scripts }));
		const { page } = await watch(await (await launch()).newContext());
		await openSession(page, address, url, sessionId);
		await page.getByText("All steps done.").waitFor();
		const times = String(
			await page.evaluate(
				"JSON.stringify({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, shown: performance.now() })",
			),
		);
		const { paint, shown }: { paint: number; shown: number } = JSON.parse(times);
		const heap = await heapOf(page);
		expect(heap).toBeLessThan(heapLimit);

		const earlier = page.getByRole("button", { name: "Show earlier messages" });
		const startedAt = performance.now();
		while ((await earlier.count()) > 0) {
			const before = await page.locator(".says").count();
			await earlier.click();
			await page.locator(".says").nth(before).waitFor({ state: "attached" });
		}
		const read = performance.now() - startedAt;
		expect(await page.locator(".says").count()).toBe(steps + 1);
		expect(await page.locator(".says").first().innerText()).toBe("Step 0 of many.");
		const whole = await heapOf(page);
		const megabytes = (bytes: number) => Math.round(bytes / 1e6);
		console.info(
			`10,000 events: first paint ${Math.round(paint)} ms, its end shown ${Math.round(shown)} ms, heap ${megabytes(heap)} MB; all of it after ${Math.round(read)} ms, heap ${megabytes(whole)} MB`,
		);
		expect(paint).toBeLessThan(5000);
		expect(whole).toBeLessThan(heapLimit);
	});

	it("keeps what is shown, and its place, while what came before is read and an answer streams", {
		timeout: 180_000,
	}, async () => {
		const { stage, nextRequest } = await createHeldStage({ scripts, modelSettings: { max_context_size: 10_000_000 } });
		const { address, url, client, sessionId } = await serveLongSession(stage);
		await client.result("model.set", { sessionId, model: "held", thinking: null });
		await client.result("turn.start", { sessionId, input: "go on" });
		const answer = await nextRequest();
		await answer.say("streamed");
		const { page, faults } = await watch(await (await launch()).newContext({ viewport: { width: 1280, height: 800 } }));
		await openSession(page, address, url, sessionId);
		await page.getByText("streamed").waitFor();
		let said = 1;
		let isOver = false;
		const streaming = (async () => {
			for (; !isOver; said += 1) {
				await answer.say(` ${said}`);
				await page.evaluate("new Promise(requestAnimationFrame)");
			}
		})();
		const earlier = page.getByRole("button", { name: "Show earlier messages" });
		// A line is opened and a word selected: both stay so.
		const opened = page.locator(".turn .fold").nth(3);
		await opened.click();
		const name = await opened.innerText();
		await page.evaluate("getSelection().selectAllChildren(document.querySelectorAll('.says')[2])");
		const selected = String(await page.evaluate("getSelection().toString()"));
		for (let times = 0; times < 2; times += 1) {
			const before = await page.locator(".says").count();
			await page.evaluate(watchPlace);
			await earlier.click();
			await page
				.locator(".says")
				.nth(before + 100)
				.waitFor({ state: "attached" });
			// The frames that follow would show what was moved late.
			await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
			const { gone, moved }: { gone: number; moved: number } = JSON.parse(String(await page.evaluate(judgePlace)));
			expect(gone).toBe(0);
			expect(moved).toBeLessThanOrEqual(2);
			expect(await page.locator(".log").evaluate(({ scrollTop }: { scrollTop: number }) => scrollTop)).toBeGreaterThan(
				1000,
			);
		}
		expect(await page.locator('.fold[aria-expanded="true"]').allInnerTexts()).toEqual([name]);
		expect(await page.evaluate("getSelection().toString()")).toBe(selected);
		isOver = true;
		await streaming;
		answer.end();
		await page.getByRole("status").getByText("idle").waitFor();
		// What is out of sight has no text of its own.
		const texts = await page.locator(".says").allTextContents();
		const first = steps - (texts.length - 2);
		expect(first).toBeLessThan(steps - 300);
		expect(texts).toEqual([
			...Array.from({ length: texts.length - 2 }, (_, index) => `Step ${first + index} of many.`),
			"All steps done.",
			["streamed", ...Array.from({ length: said - 1 }, (_, index) => index + 1)].join(" "),
		]);
		expect(await page.locator(".turn .fold b").count()).toBe(texts.length - 2);
		expect(await page.locator(".prompt").allTextContents()).toEqual(["go on"]);
		expect(faults).toEqual([]);
	});
});
