// A session of ten thousand events: what a person waits for it, and what it takes. Times are printed and their bounds are wide, because
// machines differ; memory is not that different.
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";
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

describe.skipIf(!hasBrowser)("a long session", () => {
	it("is shown soon, from its end, and can be read to its beginning", { timeout: 180_000 }, async () => {
		const scripts = Array.from(
			{ length: steps },
			(_, n) => `text: **Step** ${n} of \`many\`.\n${toolCall(`c${n}`, "Glob", { pattern: `*.${n}` })}`,
		);
		const stage = createStage({ scripts: [...scripts, "text: All steps done."] });
		const { address, url } = await serveWeb(stage);
		const { control = "" } = readTokens(path.join(stage.shareDir, "gateway.json"));
		const client = new GatewayClient(Number(new URL(url).port), control);
		const sessionId = await client.createSession({ maxSteps: steps + 10 });
		const stream = await client.stream(`sessions=${sessionId}&grade=block`);
		await client.result("turn.start", { sessionId, input: "take many steps" });
		const { data } = await stream.until(isEvent("turn.ended"));
		expect(data["seq"]).toBeGreaterThan(10_000);

		const { page } = await watch(await (await launch()).newContext());
		await page.goto(address);
		await page.locator(".session-row button").waitFor();
		await page.goto(`${url}/#session=${sessionId}`);
		await page.reload();
		await page.getByText("All steps done.").waitFor();
		const times = String(
			await page.evaluate(
				"JSON.stringify({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, shown: performance.now() })",
			),
		);
		const { paint, shown }: { paint: number; shown: number } = JSON.parse(times);
		const heap = await heapOf(page);
		expect(heap).toBeLessThan(heapLimit);

		const earlier = page.getByRole("button", { name: "Show what came before" });
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
});
