// Connections that break in the middle of an answer: what was streamed stays, what comes later follows it, nothing comes twice.
import { rmSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { createHeldStage } from "../support/models/held-provider.ts";
import { beginSession, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const says = (page: Page) => page.locator(".says");

describe.skipIf(!hasBrowser)("the page without its server", () => {
	it("goes on with the same text after thirty seconds without a network", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const { address } = await serveWeb(stage);
		const context = await (await launch()).newContext();
		const { page } = await watch(context);
		await page.clock.install();
		await beginSession(page, address);
		await say(page, "count");
		const answer = await nextRequest();
		await answer.say("one two ");
		await says(page).getByText("one two").waitFor();
		await context.setOffline(true);
		await answer.say("three ");
		// A stream that is silent for longer counts as broken.
		await page.clock.fastForward(46_000);
		await page.getByText("offline, trying again").waitFor();
		await answer.say("four ");
		await context.setOffline(false);
		await page.clock.fastForward(6_000);
		await says(page).getByText("one two three four").waitFor();
		await answer.say("five");
		await says(page).getByText("one two three four five").waitFor();
		answer.end();
		await page.getByRole("status").getByText("idle").waitFor();
		expect(await says(page).allInnerTexts()).toEqual(["one two three four five"]);
		expect(await page.locator(".prompt").allInnerTexts()).toEqual(["count"]);
	});

	it("keeps what was streamed when the server is killed in mid-turn, and streams what the next one says", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const { address, server, url } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "count");
		const lost = await nextRequest();
		await lost.say("one two ");
		await says(page).getByText("one two").waitFor();
		server.kill("SIGKILL");
		await server.exited;
		await page.getByText("offline, trying again").waitFor();
		expect(await says(page).allInnerTexts()).toEqual(["one two"]);
		await serveWeb(stage, "--port", new URL(url).port);
		await page.getByText("The program ended in the middle of this turn.").waitFor();
		await page.getByRole("status").getByText("idle").waitFor();
		expect(await says(page).allInnerTexts()).toEqual(["one two"]);
		await say(page, "go on");
		const next = await nextRequest();
		await next.say("three ");
		await says(page).getByText("three").waitFor();
		await next.say("four");
		await says(page).getByText("three four").waitFor();
		next.end();
		await page.getByRole("status").getByText("idle").waitFor();
		expect(await says(page).allInnerTexts()).toEqual(["one two", "three four"]);
		expect(await page.locator(".prompt").allInnerTexts()).toEqual(["count", "go on"]);
	});

	it("shows a window that is opened in mid-answer the whole of it, and goes on", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "count");
		const answer = await nextRequest();
		await answer.say("one ");
		await says(page).getByText("one").waitFor();
		await page.reload();
		await says(page).getByText("one").waitFor();
		await answer.say("two");
		await says(page).getByText("one two").waitFor();
		await page.getByRole("button", { name: "Stop" }).click();
		await page.getByText("Interrupted.").waitFor();
		await answer.closed;
		expect(await says(page).allInnerTexts()).toEqual(["one two"]);
		await page.reload();
		await page.getByText("Interrupted.").waitFor();
		expect(await page.locator(".prompt").allInnerTexts()).toEqual(["count"]);
	});

	it("says that it needs another address when the next server has other tokens, and goes on with it", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		const { address, server, url } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "begin");
		await page.getByText("All done.").waitFor();
		server.kill("SIGKILL");
		await server.exited;
		await page.getByText("offline, trying again").waitFor();
		rmSync(path.join(stage.shareDir, "gateway.json"));
		const next = await serveWeb(stage, "--port", new URL(url).port);
		await page.getByText("The token of this page is no longer valid.").waitFor();
		await page.getByText("Open the address that it printed").waitFor();
		// The same page with another fragment: it is not loaded anew.
		await page.evaluate(`location.hash = ${JSON.stringify(new URL(next.address).hash)}`);
		await page.getByText("All done.").waitFor();
		await page.getByRole("status").getByText("idle").waitFor();
		await say(page, "and on");
		await page.getByText("All done.").nth(1).waitFor();
	});
});
