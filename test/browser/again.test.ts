// What a person does again: goes back to before a message with its files, edits it, tries once more.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { createHeldStage } from "../support/models/held-provider.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wide = { viewport: { width: 1440, height: 900 } };

describe.skipIf(!hasBrowser)("doing it again", () => {
	it("rewinds conversation and files to before a message, after showing what that does, and undoes the files", async () => {
		const stage = createStage({
			scripts: [
				"text: Hello.",
				toolCall("a", "StrReplaceFile", { path: "cart.js", edit: { old: "one", new: "two" } }),
				toolCall("b", "WriteFile", { path: "fresh.js", content: "x\n" }),
				"text: All done.",
			],
		});
		const file = (name: string) => path.join(stage.workDir, name);
		writeFileSync(file("cart.js"), "one\n");
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "greet");
		await page.getByText("Hello.").waitFor();
		await say(page, "change it");
		for (const title of ["Edit cart.js?", "Create fresh.js?"]) {
			await page.getByRole("heading", { name: title }).waitFor();
			await decide(page, "1");
		}
		await page.getByText("All done.").waitFor();
		await page.getByRole("button", { name: "Rewind" }).last().click();
		const dialog = page.getByRole("dialog", { name: "Rewind" });
		await dialog.getByText("2 files go back").waitFor();
		await dialog.locator("summary", { hasText: "cart.js" }).click();
		await dialog.locator(".diff", { hasText: "two" }).waitFor();
		await dialog.locator("summary", { hasText: "fresh.js" }).getByText("delete").waitFor();
		expect(readFileSync(file("cart.js"), "utf8")).toBe("two\n");
		await dialog.getByRole("button", { name: "Rewind" }).click();
		await page.getByText("Conversation rewound. 2 files restored.").waitFor();
		expect(readFileSync(file("cart.js"), "utf8")).toBe("one\n");
		expect(existsSync(file("fresh.js"))).toBe(false);
		const rewound = page.locator("details.rewound");
		await rewound.getByText("Rewound: 1 message and what followed").waitFor();
		expect(await page.getByText("All done.").isVisible()).toBe(false);
		await page.reload();
		await rewound.locator("summary").click();
		await page.getByText("All done.").waitFor();
		expect(await rewound.getByRole("button", { name: "Rewind" }).count()).toBe(0);
		await page.getByRole("button", { name: "Rewind" }).first().click();
		await dialog.getByText("nothing to restore").waitFor();
		await dialog.getByRole("button", { name: "Cancel" }).click();
	});

	it("undoes a rewind of files, and asks what becomes of a file that somebody else changed", async () => {
		const stage = createStage({
			scripts: [
				toolCall("a", "StrReplaceFile", { path: "cart.js", edit: { old: "one", new: "two" } }),
				"text: All done.",
			],
		});
		const file = path.join(stage.workDir, "cart.js");
		writeFileSync(file, "one\n");
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "change it");
		await page.getByRole("heading", { name: "Edit cart.js?" }).waitFor();
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		writeFileSync(file, "three\n");
		await page.getByRole("button", { name: "Rewind" }).click();
		const dialog = page.getByRole("dialog", { name: "Rewind" });
		await dialog.getByLabel(/^Conversation/).uncheck();
		await dialog.getByText("A file was changed by somebody else since").waitFor();
		await dialog.getByLabel("Keep their changes").waitFor();
		await dialog.getByRole("button", { name: "Rewind" }).click();
		await page.getByText("0 files restored, 1 left as they are.").waitFor();
		expect(readFileSync(file, "utf8")).toBe("three\n");
		await page.getByRole("button", { name: "Rewind" }).click();
		await dialog.getByLabel(/^Conversation/).uncheck();
		await dialog.getByLabel("Overwrite their changes").check();
		await dialog.getByRole("button", { name: "Rewind" }).click();
		await page.getByText("1 file restored.").waitFor();
		expect(readFileSync(file, "utf8")).toBe("one\n");
		await page.getByRole("button", { name: "Undo" }).click();
		await expect.poll(() => readFileSync(file, "utf8")).toBe("three\n");
	});

	it("forks before a message with the files as they were, says what it could not copy, and why it cannot", async () => {
		const stage = createStage({
			scripts: [
				"text: Hello.",
				toolCall("a", "StrReplaceFile", { path: "cart.js", edit: { old: "one", new: "two" } }),
				"text: All done.",
			],
		});
		const file = path.join(stage.workDir, "cart.js");
		writeFileSync(file, "one\n");
		execFileSync("mkfifo", [path.join(stage.workDir, "pipe")]);
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "greet");
		await page.getByText("Hello.").waitFor();
		await say(page, "change it");
		await page.getByRole("heading", { name: "Edit cart.js?" }).waitFor();
		await decide(page, "1");
		await page.getByText("All done.").waitFor();
		await page.locator("main .actions").getByRole("button", { name: "Fork" }).last().click();
		const dialog = page.getByRole("dialog", { name: "Fork" });
		await dialog.getByText("change it").waitFor();
		await dialog.getByLabel(/^In a new git worktree/).check();
		const directory = dialog.getByRole("textbox", { name: "New directory" });
		await expect.poll(() => directory.inputValue(), { timeout: 10_000 }).toBe(`${stage.workDir}-fork`);
		await dialog.getByRole("button", { name: "Fork" }).click();
		await dialog.getByRole("alert").getByText(`${stage.workDir} is not in a git repository.`).waitFor();
		await dialog.getByLabel(/^In a new directory/).check();
		await directory.fill(path.join(stage.workDir, "inside"));
		await dialog.getByRole("button", { name: "Fork" }).click();
		await dialog.getByRole("alert").getByText("Choose a directory outside of it.").waitFor();
		await directory.fill(`${stage.workDir}-fork`);
		await dialog.getByRole("button", { name: "Fork" }).click();
		await dialog.getByRole("heading", { name: "Forked, but not all files could be copied" }).waitFor();
		await dialog.locator("summary", { hasText: "Not copied (1)" }).click();
		await dialog.getByText("pipe: it is neither a file, nor a directory, nor a link").waitFor();
		await dialog.getByRole("button", { name: "Open the fork" }).click();
		await page.locator(".directory", { hasText: `${stage.workDir}-fork` }).waitFor();
		await page.getByText("Hello.").waitFor();
		expect(await page.getByText("All done.").count()).toBe(0);
		expect(readFileSync(path.join(`${stage.workDir}-fork`, "cart.js"), "utf8")).toBe("one\n");
		expect(readFileSync(file, "utf8")).toBe("two\n");
		// The whole fork, again in its own directory.
		await page.locator(".session-actions").getByRole("button", { name: "Fork" }).click();
		await dialog.getByRole("heading", { name: "Fork this session?" }).waitFor();
		const sessions = await page.locator("[data-session]").count();
		await dialog.getByRole("button", { name: "Fork" }).click();
		await expect.poll(() => page.locator("[data-session]").count(), { timeout: 10_000 }).toBe(sessions + 1);
		await dialog.waitFor({ state: "detached" });
		await page.locator(".directory", { hasText: `${stage.workDir}-fork` }).waitFor();
	});

	it("sends an edited message in place of the earlier one, and nothing when that is cancelled", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "count to tree");
		const first = await nextRequest();
		await first.say("What is tree?");
		first.end();
		await page.getByText("What is tree?").waitFor();
		const field = page.getByLabel("Message to the agent");
		await page.getByRole("button", { name: "Edit", exact: true }).click();
		await expect.poll(() => field.inputValue()).toBe("count to tree");
		await page.getByRole("button", { name: "Cancel" }).click();
		await expect.poll(() => field.inputValue()).toBe("");
		await page.getByRole("button", { name: "Edit", exact: true }).click();
		await expect.poll(() => field.inputValue()).toBe("count to tree");
		await field.fill("count to three");
		await page.keyboard.press("Enter");
		const second = await nextRequest();
		const said = JSON.stringify(second.messages);
		expect(said).toContain("count to three");
		expect(said).not.toContain("tree?");
		await second.say("One, two, three.");
		second.end();
		await page.getByText("One, two, three.").waitFor();
		await page.getByText("Rewound: 1 message and what followed").waitFor();
		await page.getByRole("button", { name: "Retry" }).click();
		const third = await nextRequest();
		expect(JSON.stringify(third.messages)).not.toContain("One, two, three.");
		await third.say("1, 2, 3.");
		third.end();
		await page.getByText("1, 2, 3.").waitFor();
	});

	it("offers to try again and to change the model where a turn failed", async () => {
		const stage = createStage({ scripts: [] });
		const { address } = await serveWeb(stage);
		const { page } = await watch(await (await launch()).newContext(wide));
		await beginSession(page, address);
		await say(page, "work");
		await page.locator(".end.danger").waitFor();
		await page.getByRole("button", { name: "Change model" }).waitFor();
		await page.getByRole("button", { name: "Retry" }).click();
		await page.getByText("Rewound: 1 message and what followed").waitFor();
		await page.locator(".end.danger").nth(1).waitFor();
	});
});
