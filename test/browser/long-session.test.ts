// A session of ten thousand events: what a person waits for it, and what it takes. The numbers are printed; the bounds are wide,
// because machines differ.
import { describe, expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { beginSession, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

describe.skipIf(!hasBrowser)("a long session", () => {
	it("is shown soon, from its end", async () => {
		const stage = createStage({ scripts: ["text: answer"] });
		const { address } = await serveWeb(stage);
		const context = await (await launch("--enable-precise-memory-info")).newContext();
		const { page } = await watch(context);
		await beginSession(page, address);
		await say(page, "hello");
		await page.getByText("answer", { exact: true }).waitFor();
		// The page is given a history of this length in place of its own.
		await context.route("**/history?*", async (route) => {
			const response = await route.fetch();
			const found = await response.json();
			const { sessionId, turnId, agentPath, at, epoch } = found.events[0];
			const place = { sessionId, turnId, agentPath, at, epoch };
			const events = Array.from({ length: 2500 }, (_, index) => [
				{ type: "turn.started", input: `question ${index}` },
				{ type: "step.started", n: 1 },
				{ type: "content.completed", part: { type: "text", text: `**answer** ${index} with \`code\`` } },
				{ type: "turn.ended", outcome: { status: "finished" } },
			])
				.flat()
				.map((body, index) => ({ ...place, ...body, seq: index + 1 }));
			await route.fulfill({ json: { ...found, events, before: null } });
		});
		await page.reload();
		await page.getByText("answer 2499").waitFor();
		const numbers = String(
			await page.evaluate(
				"JSON.stringify({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, shown: performance.now(), heap: performance.memory.usedJSHeapSize })",
			),
		);
		const { paint, shown, heap }: { paint: number; shown: number; heap: number } = JSON.parse(numbers);
		console.info(
			`10,000 events: first paint ${Math.round(paint)} ms, shown ${Math.round(shown)} ms, heap ${Math.round(heap / 1e6)} MB`,
		);
		expect(paint).toBeLessThan(5000);
		expect(heap).toBeLessThan(150e6);
	});
});
