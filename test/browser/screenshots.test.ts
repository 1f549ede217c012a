// The states of the page at four widths, looked at by the checker of accessibility. AGENTWIRE_IMAGES=DIRECTORY writes an image of
// each; AGENTWIRE_IMAGES=docs makes those of docs/web.md.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { startPlatformServer } from "../support/host/platform-server.ts";
import { fixture, writeServers } from "../support/mcp/mcp-stage.ts";
import { beginSession, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

const wanted = process.env["AGENTWIRE_IMAGES"] ?? null;
const images = wanted === "docs" ? fileURLToPath(new URL("../../docs/images", import.meta.url)) : wanted;
/** Those that the document shows. */
const documented = ["approval-wide-light", "conversation-wide-light", "change-wide-dark", "approval-narrow-dark"];

/** Findings of the checker that keep somebody from using the page. */
async function findings(page: Page): Promise<string[]> {
	const found: unknown = await page.evaluate(
		`${axe.source};axe.run(document).then((result) => JSON.stringify(result.violations))`,
	);
	const violations: { id: string; impact: string; nodes: { html: string }[] }[] = JSON.parse(String(found));
	return violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

const answer =
	"The total was wrong because the loop began at **1**, but the first place of a list is `0`. Both tests pass now; the change is one character of `basket.js`.";

const sizes = [
	[1440, "wide"],
	[820, "middle"],
	[390, "narrow"],
	[360, "narrowest"],
] as const;

/** Shows states of the page in every width: nothing is wider than the window, and `serious` is what the checker finds. */
function createShow(page: Page, colorScheme: "light" | "dark") {
	const serious: string[] = [];
	const show = async (state: string) => {
		for (const [width, name] of sizes) {
			await page.setViewportSize({ width, height: width < 400 ? 780 : 900 });
			const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
			expect(overflow, `${state} at ${width}`).toBeLessThanOrEqual(0);
			const image = `${state}-${name}-${colorScheme}`;
			// What narrow windows have instead of columns is looked at as well.
			if (name !== "middle") serious.push(...(await findings(page)).map((each) => `${state} at ${width}, ${each}`));
			if (images === null || (wanted === "docs" && !documented.includes(image))) continue;
			await page.screenshot({ path: path.join(images, `${image}.png`) });
		}
		await page.setViewportSize({ width: 1440, height: 900 });
	};
	return { serious, show };
}

describe.skipIf(!hasBrowser)("the page, to look at", () => {
	it.each(["light", "dark"] as const)("has its states in %s, at four widths", async (colorScheme) => {
		const edit = { path: "basket.js", edit: { old: "index = 1", new: "index = 0" } };
		const question = {
			question: "Which currency should totals have?",
			header: "Currency",
			options: [
				{ label: "Euro", description: "as the other amounts" },
				{ label: "Dollar", description: "as the invoices" },
			],
		};
		const stage = createStage({
			scripts: [
				`think: The failing test will say where to look.\ntext: I will run the test first.\n${toolCall("a", "Shell", { command: "printf '1 failing\\nexpected 1200, found 900\\n'" })}`,
				`text: Now the change.\n${toolCall("b", "StrReplaceFile", edit)}`,
				`text: One thing is open.\n${toolCall("c", "AskUserQuestion", { questions: [question] })}`,
				`text: ${answer}`,
			],
		});
		writeFileSync(
			path.join(stage.workDir, "basket.js"),
			"export function total(prices) {\n  let sum = 0;\n  for (let index = 1; index < prices.length; index += 1) {\n    sum += prices[index];\n  }\n  return sum;\n}\n",
		);
		const { address, server } = await serveWeb(stage);
		const context = await (await launch()).newContext({ colorScheme, viewport: { width: 1440, height: 900 } });
		const { page, faults } = await watch(context);
		const { serious, show } = createShow(page, colorScheme);
		await page.goto(address);
		await page.getByRole("button", { name: "Begin a session" }).waitFor();
		await show("start");
		await beginSession(page, address);
		await show("empty");
		await say(page, "A test of this project fails. Find out why and fix the code.");
		await page.locator(".attention pre.command").waitFor();
		await show("approval");
		await page.keyboard.press("1");
		await page.locator(".attention .diff").waitFor();
		await show("change");
		await page.keyboard.press("1");
		await page.getByLabel("Euro").check();
		await show("question");
		await page.getByRole("button", { name: "Answer" }).click();
		await page.locator(".markdown strong", { hasText: "1" }).waitFor();
		await page.locator(".status", { hasText: "idle" }).waitFor();
		await show("conversation");
		await page.keyboard.press("Control+k");
		await page.getByRole("dialog", { name: "Go to or do" }).waitFor();
		await show("palette");
		await page.keyboard.press("Escape");
		await page.setViewportSize({ width: 820, height: 900 });
		expect(await page.locator(".panel").isVisible()).toBe(false);
		await page.getByRole("button", { name: "Details" }).click();
		expect(await page.locator(".panel .change").isVisible()).toBe(true);
		await show("details");
		await page.setViewportSize({ width: 820, height: 900 });
		await page.getByRole("button", { name: "Details" }).click();
		await page.setViewportSize({ width: 1440, height: 900 });
		server.kill("SIGKILL");
		await page.locator(".status.offline").waitFor();
		await show("offline");
		expect(serious).toEqual([]);
		expect(faults).toEqual([]);
	});

	it.each(["light", "dark"] as const)("has its less common states in %s, at four widths", async (colorScheme) => {
		const large = Array.from({ length: 120 }, (_, index) => `line ${index}`);
		const todos = ["Read", "Change", "Test"].map((title, index) => ({
			title,
			status: index === 0 ? "done" : "pending",
		}));
		const stage = createStage({
			scripts: [
				toolCall("e", "EnterPlanMode", {}),
				"text: I will plan it.",
				`${toolCall("b", "Shell", { command: "sleep 600", run_in_background: true, description: "a long build" })}\n${toolCall("t", "SetTodoList", { todos })}`,
				toolCall("w", "WriteFile", { path: "large.txt", content: large.map((line) => `${line} now`).join("\n") }),
				`${toolCall("g", "Glob", { pattern: "*" })}\n${toolCall("h", "Grep", { pattern: "x" })}\n${toolCall("r", "ReadFile", { path: "large.txt" })}`,
				toolCall("s", "Agent", { description: "look around", prompt: "look", subagent_type: "explore" }),
				`text: ${"The subagent found nothing of note. ".repeat(12)}`,
				toolCall("q", "echo", { text: "to a tool server" }),
				toolCall("f", "Shell", { command: "echo broken >&2; exit 3" }),
				toolCall("z", "Shell", { command: "echo begun; sleep 600" }),
			],
		});
		writeFileSync(path.join(stage.workDir, "large.txt"), large.join("\n"));
		writeServers(stage, { notes: fixture(), broken: fixture("exit", "3") });
		const file = path.join(stage.shareDir, "config.toml");
		writeFileSync(file, `${readFileSync(file, "utf8")}\n[agentwire.limits]\nsession_tool_calls = 12\n`);
		const { address } = await serveWeb(stage);
		const context = await (await launch()).newContext({ colorScheme, viewport: { width: 1440, height: 900 } });
		const { page, faults } = await watch(context);
		const { serious, show } = createShow(page, colorScheme);
		const allow = async (text: string) => {
			await page.locator(".attention", { hasText: text }).waitFor();
			await page.keyboard.press("1");
		};
		await beginSession(page, address);
		await say(page, "Move the basket.");
		await page.getByLabel("Yes").check();
		await show("enter-plan");
		await page.getByRole("button", { name: "Answer" }).click();
		await page.getByText("I will plan it.").waitFor();
		await page.getByLabel("Mode", { exact: true }).selectOption("default");
		await say(page, "Now do it.");
		await allow("sleep 600");
		await page.locator(".attention .diff").waitFor();
		await show("large-change");
		await allow("large.txt");
		await allow("echo of the tool server notes");
		await allow("exit 3");
		await allow("echo begun");
		await page.locator(".card.running pre.output", { hasText: "begun" }).waitFor();
		await page.getByLabel("Files to attach").setInputFiles([
			{
				name: "a note with quite a long name, longer than there is room for.txt",
				mimeType: "text/plain",
				buffer: Buffer.from("x"),
			},
		]);
		await say(page, "and then this, which is long enough to need more than the line that it has on a narrow window");
		await page.getByLabel("Message to the agent").fill("/");
		await page.locator(".suggestion").first().waitFor();
		await show("working");
		await page.getByLabel("Message to the agent").fill("");
		await page.getByRole("button", { name: "Stop", exact: true }).click();
		await page.getByText("Interrupted.").waitFor();
		await show("interrupted");
		await page.getByRole("button", { name: "Send now" }).click();
		await page.locator(".end.danger").waitFor();
		await show("failed");
		await page.setViewportSize({ width: 390, height: 780 });
		await page.getByRole("button", { name: "Details" }).click();
		await show("details-of-work");
		await page.setViewportSize({ width: 390, height: 780 });
		await page.getByRole("button", { name: "Details" }).click();
		await page.getByRole("button", { name: "Sessions" }).click();
		await show("drawer");
		expect(serious).toEqual([]);
		expect(faults).toEqual([]);
	});

	it.each(["light", "dark"] as const)("has its first run in %s, at four widths", async (colorScheme) => {
		const platform = await startPlatformServer();
		onTestFinished(() => platform.close());
		platform.beforeGrant.push(...Array.from({ length: 5000 }, () => "authorization_pending"));
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "");
		const variables = { KIMI_CODE_OAUTH_HOST: platform.url, KIMI_CODE_BASE_URL: `${platform.url}/v1` };
		const { address } = await serveWeb({ ...stage, serve: (...flags) => stage.serveWith(variables, ...flags) });
		const context = await (await launch()).newContext({ colorScheme, viewport: { width: 1440, height: 900 } });
		const { page, faults } = await watch(context);
		const { serious, show } = createShow(page, colorScheme);
		await page.goto(address);
		await page.getByRole("button", { name: "Test the key" }).waitFor();
		await show("first-run");
		await page.getByRole("button", { name: "Sign in" }).click();
		await page.locator(".code-word").waitFor();
		await show("sign-in");
		expect(serious).toEqual([]);
		expect(faults).toEqual([]);
	});
});
