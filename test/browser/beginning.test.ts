// Where sessions begin, end and come back.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { beginSession, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wide = { viewport: { width: 1440, height: 900 } };

describe.skipIf(!hasBrowser)("sessions", () => {
	it("begin in a directory that is completed, below the home directory too, or in a recent one", async () => {
		const stage = createStage({ scripts: ["text: Hello.", "text: Hello again."] });
		for (const name of ["alpha/inner", "almond"]) mkdirSync(path.join(stage.workDir, name), { recursive: true });
		const home = { ...stage, serve: (...flags: string[]) => stage.serveWith({ HOME: stage.workDir }, ...flags) };
		const { address } = await serveWeb(home);
		const { page } = await watch(await (await launch()).newContext(wide));
		await page.goto(address);
		await page.getByLabel("First message").fill("hello");
		const field = page.getByRole("combobox", { name: "Project directory" });
		await field.pressSequentially("~/al");
		const options = page.getByRole("option");
		await options.nth(1).waitFor();
		expect(await options.allInnerTexts()).toEqual(["almond", "alpha"].map((name) => path.join(stage.workDir, name)));
		await field.press("ArrowDown");
		await field.press("ArrowDown");
		await field.press("Enter");
		await page.getByRole("option", { name: "inner" }).waitFor();
		await field.press("Tab");
		await page.getByRole("button", { name: "Begin a session" }).click();
		await page.locator(".directory", { hasText: "alpha/inner" }).waitFor();
		await page.locator(".prompt", { hasText: "hello" }).waitFor();
		await page.getByText("Hello.").waitFor();
		await page.getByRole("button", { name: "New session" }).first().click();
		await page.getByRole("list", { name: "Recent directories" }).getByRole("button").click();
		await page.locator(".directory", { hasText: "alpha/inner" }).waitFor();
		expect(new URL(page.url()).hash).toContain("session=");
		await page.getByRole("button", { name: "New session" }).first().click();
		await page.getByRole("combobox", { name: "Another directory" }).fill("~/almond");
		await page.keyboard.press("Enter");
		await page.locator(".directory", { hasText: "almond" }).waitFor();
	});

	it("come back from the archive, at once or from its list", async () => {
		const stage = createStage({ scripts: ["text: Hello."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "hello");
		await page.getByText("Hello.").waitFor();
		await page.getByRole("button", { name: "Archive", exact: true }).click();
		await page.getByText("Session archived.").waitFor();
		await page.getByRole("button", { name: "Undo" }).click();
		await page.getByText("Hello.").waitFor();
		await page.getByRole("button", { name: "Archive", exact: true }).click();
		await page.getByText("Archived (1)").click();
		await page.getByRole("button", { name: "Restore" }).click();
		await page.getByText("Hello.").waitFor();
		await say(page, "and now?");
		// The model of a session that was unloaded begins its scripts anew.
		await page.locator(".says", { hasText: "Hello." }).nth(1).waitFor();
		expect(await page.getByText("Archived (1)").count()).toBe(0);
		// A narrow window has it in a menu.
		await page.setViewportSize({ width: 390, height: 780 });
		const archive = page.getByRole("button", { name: "Archive", exact: true });
		expect(await archive.isVisible()).toBe(false);
		await page.getByRole("button", { name: "More" }).click();
		await archive.click();
		await page.getByText("Session archived.").waitFor();
	});

	it("are marked when their last turn failed", async () => {
		const stage = createStage({ scripts: [] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "work");
		await page.locator(".session-row time.failed", { hasText: "failed" }).waitFor();
		expect(await page.locator(".session-row").count()).toBe(1);
	});
});
