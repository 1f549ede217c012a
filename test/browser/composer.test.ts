// What a person writes with: files named and attached, prompts that wait, and what stops.
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wantsToTouch = (id: string) => toolCall(id, "Shell", { command: `touch ${id}` });

/** A PNG of one pixel. */
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Copies something, given as an expression of its content, and presses the keys that paste it. */
async function paste(page: Page, type: string, content: string): Promise<void> {
	await page.evaluate(
		`navigator.clipboard.write([new ClipboardItem({ "${type}": new Blob([${content}], { type: "${type}" }) })])`,
	);
	await page.getByLabel("Message to the agent").press("Control+v");
}

const bytesOf = (base64: string) => `Uint8Array.from(atob("${base64}"), (each) => each.charCodeAt(0))`;

describe.skipIf(!hasBrowser)("the composer", () => {
	it("completes files of the project after an @, by keys alone, and never private ones", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		for (const name of ["basket.js", "basket.test.js", ".env", "notes.txt"]) {
			writeFileSync(path.join(stage.workDir, name), "x");
		}
		const { address } = await serveWeb(stage);
		const { page, faults } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		const field = page.getByLabel("Message to the agent");
		await field.pressSequentially("look at @bask");
		await page.getByRole("option", { name: "basket.test.js" }).waitFor();
		expect(await page.locator(".suggestion").allInnerTexts()).toEqual(["basket.js", "basket.test.js"]);
		await field.press("ArrowDown");
		expect(await page.locator('.suggestion[aria-selected="true"]').innerText()).toBe("basket.test.js");
		await field.press("Enter");
		expect(await field.inputValue()).toBe("look at @basket.test.js ");
		await field.pressSequentially("and @env");
		await page.getByText("No file fits.").waitFor();
		await field.press("Enter");
		await page.locator(".prompt", { hasText: "look at @basket.test.js and @env" }).waitFor();
		expect(faults).toEqual([]);
	});

	it("attaches files by the button and by a drop, and sends them", async () => {
		const stage = createStage({ scripts: ["text: All done."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await page.getByLabel("Files to attach").setInputFiles([
			{ name: "one.txt", mimeType: "text/plain", buffer: Buffer.from("first-content") },
			{ name: "gone.txt", mimeType: "text/plain", buffer: Buffer.from("gone") },
		]);
		await page.getByRole("button", { name: "Remove gone.txt" }).click();
		await page.locator(".composer").evaluate((form: { dispatchEvent(event: unknown): void }) => {
			// The types of a browser are not those of the tests.
			const scope = globalThis as unknown as Record<string, new (...given: unknown[]) => never>;
			const { DataTransfer, File, DragEvent } = scope;
			if (DataTransfer === undefined || File === undefined || DragEvent === undefined) throw new Error("no browser");
			const dataTransfer: { items: { add(file: unknown): void } } = new DataTransfer();
			dataTransfer.items.add(new File(["second-content"], "two.txt", { type: "text/plain" }));
			form.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
		});
		await page.getByRole("list", { name: "Attached files" }).getByText("two.txt").waitFor();
		await say(page, "read these");
		await page.getByText("All done.").waitFor();
		expect(await page.getByRole("list", { name: "Attached files" }).count()).toBe(0);
		const files = page.locator(".prompt .attached");
		expect(await files.allInnerTexts()).toEqual(["one.txt", "two.txt"]);
		await files.first().click();
		await files.getByText("first-content").waitFor();
		expect(await page.locator(".prompt").textContent()).toContain("second-content");
	});

	it("attaches an image that is pasted, and leaves pasted words to the field", async () => {
		const stage = createStage({ scripts: ["text: All done."], modelSettings: { capabilities: ["image_in"] } });
		const { address } = await serveWeb(stage);
		const context = await (await launch()).newContext({ permissions: ["clipboard-read", "clipboard-write"] });
		const { page, faults } = await watch(context);
		await beginSession(page, address);
		const attached = page.getByRole("list", { name: "Attached files" });
		await paste(page, "text/plain", '"only words "');
		await paste(page, "image/png", bytesOf(onePixel));
		await attached.getByText("image.png").waitFor();
		expect(await attached.locator("img").evaluate((image: { naturalWidth: number }) => image.naturalWidth)).toBe(1);
		expect(await page.getByLabel("Message to the agent").inputValue()).toBe("only words ");
		// What cannot be sent is there again, with what was written.
		await page.getByLabel("Files to attach").setInputFiles({
			name: "odd.png",
			mimeType: "image/png",
			buffer: Buffer.from("no image at all"),
		});
		await page.getByLabel("Message to the agent").press("Enter");
		await page.locator(".fault", { hasText: "odd.png" }).waitFor();
		expect(await page.getByLabel("Message to the agent").inputValue()).toBe("only words ");
		await page.getByRole("button", { name: "Remove odd.png" }).click();
		await page.getByLabel("Message to the agent").press("Enter");
		await page.getByText("All done.").waitFor();
		expect((await page.locator(".prompt").innerText()).trim()).toBe("only words");
		await page.locator(".prompt img").waitFor();
		expect(await attached.count()).toBe(0);
		expect(faults).toEqual([]);
	});

	it("queues prompts that every window sees, and that outlive a reload and the server", async () => {
		const stage = createStage({ scripts: [wantsToTouch("made"), "text: First done.", "text: Second done."] });
		const { address, server, url } = await serveWeb(stage);
		const browser = await launch();
		const one = (await watch(await browser.newContext())).page;
		const other = (await watch(await browser.newContext())).page;
		await beginSession(one, address);
		await say(one, "make it");
		await one.getByRole("heading", { name: "Run this command?" }).waitFor();
		await say(one, "then this");
		await say(one, "and that");
		await other.goto(address);
		await other.locator(".session-row button").first().click();
		const queued = other.getByRole("region", { name: "Queued prompts" });
		await queued.getByText("then this").waitFor();
		await queued.getByRole("button", { name: "Edit" }).first().click();
		await other.getByLabel("Edited prompt").fill("changed elsewhere");
		await other.keyboard.press("Enter");
		await one.getByRole("region", { name: "Queued prompts" }).getByText("changed elsewhere").waitFor();
		await queued.getByRole("button", { name: "Remove: and that" }).click();
		await one.getByText("and that").waitFor({ state: "detached" });
		server.kill("SIGKILL");
		await server.exited;
		await one.getByText("offline, trying again").waitFor();
		stage.setScripts(["text: Second done."]);
		await serveWeb(stage, "--port", new URL(url).port);
		await one.reload();
		await one.getByText("Queue paused: the last turn did not finish.").waitFor();
		await one.getByRole("button", { name: "Send now" }).click();
		await one.getByText("Second done.").waitFor();
		await one.locator(".prompt", { hasText: "changed elsewhere" }).waitFor();
		expect(await one.getByRole("region", { name: "Queued prompts" }).count()).toBe(0);
	});

	it("sends what waits by itself when the turn finishes", async () => {
		const stage = createStage({ scripts: [wantsToTouch("made"), "text: First done.", "text: Second done."] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext());
		await beginSession(page, address);
		await say(page, "make it");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await say(page, "then this");
		await page.getByRole("region", { name: "Queued prompts" }).getByText("then this").waitFor();
		await decide(page, "1");
		await page.getByText("Second done.").waitFor();
		expect(await page.locator(".prompt").allInnerTexts()).toEqual(["make it", "then this"]);
	});

	it("stops a turn by Escape twice, and a background task by its button", async () => {
		const stage = createStage({
			scripts: [
				toolCall("b", "Shell", {
					command: "touch made; sleep 600",
					run_in_background: true,
					description: "a long nap",
				}),
				wantsToTouch("never"),
			],
		});
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext({ viewport: { width: 1440, height: 900 } }));
		await beginSession(page, address);
		await say(page, "sleep");
		await page.getByRole("heading", { name: "Run this command?" }).waitFor();
		await decide(page, "1");
		await page.getByRole("button", { name: "Stop a long nap" }).click();
		await page.getByRole("button", { name: "Stop a long nap" }).waitFor({ state: "detached" });
		await page.locator(".attention pre.command", { hasText: "touch never" }).waitFor();
		await page.getByLabel("Message to the agent").press("Escape");
		await page.getByLabel("Message to the agent").press("Escape");
		await page.getByText("Interrupted.").waitFor();
		expect(await page.locator(".attention").count()).toBe(0);
	});
});
