// The page of a session that another process runs: an editor's turn, watched and approved in Chromium.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { openSession, run } from "../support/executable/sdk-client.ts";
import { decide, hasBrowser, launch, serveWeb, watch } from "./browser.ts";

describe.skipIf(!hasBrowser)("a session of an editor", () => {
	it("is watched, and its approval is answered", { timeout: 60_000 }, async () => {
		const stage = createStage({
			scripts: ["text: Ready.", toolCall("a", "Shell", { command: "touch made" }), "text: All done."],
		});
		// As the published extension for VS Code starts its server.
		const editor = openSession(stage);
		await run(editor.prompt("hi"));
		const { address } = await serveWeb(stage);
		const { page, faults } = await watch(await (await launch()).newContext());
		await page.goto(address);
		await page.getByText("hi", { exact: true }).first().click();
		await page.getByText("Ready.").waitFor();
		const turn = run(editor.prompt("make it"));
		await page.getByText("make it").waitFor();
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await decide(page, "1");
		expect((await turn).result).toEqual({ status: "finished" });
		await page.getByText("All done.").waitFor();
		expect(readdirSync(stage.workDir)).toEqual(["made"]);
		expect(faults).toEqual([]);
	});
});
