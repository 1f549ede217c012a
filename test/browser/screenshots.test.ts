// The states of the page at four widths, looked at by the checker of accessibility. AGENTWIRE_IMAGES=DIRECTORY writes an image of
// each; AGENTWIRE_IMAGES=docs makes those of docs/guides/web.md.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Page, Route } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient } from "../support/gateway/gateway-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";
import { startPlatformServer } from "../support/host/platform-server.ts";
import { fixture, writeServers } from "../support/mcp/mcp-stage.ts";
import { createHeldStage } from "../support/models/held-provider.ts";
import { beginSession, decide, hasBrowser, launch, say, serveWeb, watch } from "./browser.ts";

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

/** What is to be touched and is less than 40 pixels high. */
async function tooSmall(page: Page): Promise<string[]> {
	const found: unknown = await page.evaluate(`JSON.stringify(
		[...document.querySelectorAll("button, select, summary, textarea, label.option, input:not([type=radio], [type=checkbox])")]
			.filter((each) => each.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }))
			.map((each) => [each.outerHTML.slice(0, 100), each.getBoundingClientRect()])
			.filter(([, { height, width }]) => width > 0 && height > 0 && height < 40)
			.map(([html, { height }]) => Math.round(height) + " px: " + html))`);
	return JSON.parse(String(found));
}

const answer =
	"The total was wrong because the loop began at **1**, but the first place of a list is `0`. Both tests pass now; the change is one character of `basket.js`.";

/** Each state is looked at in four widths. */
const slow = { timeout: 180_000 };

const sizes = [
	[1440, "wide"],
	[820, "middle"],
	[390, "narrow"],
	[360, "narrowest"],
] as const;

/**
 * Shows states of the page in every width: nothing is wider than the window, and `serious` is what the checker finds, and what is
 * too small for a finger.
 */
function createShow(page: Page, colorScheme: "light" | "dark") {
	const serious: string[] = [];
	const show = async (state: string) => {
		for (const [width, name] of sizes) {
			await page.setViewportSize({ width, height: width < 400 ? 780 : 900 });
			const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
			expect(overflow, `${state} at ${width}`).toBeLessThanOrEqual(0);
			if (name === "narrowest") serious.push(...(await tooSmall(page)).map((each) => `${state}, ${each}`));
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
	it.each(["light", "dark"] as const)("has its states in %s, at four widths", slow, async (colorScheme) => {
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
				`think: The failing test will say where to look.\ntext: I will run the test first.\n${toolCall("a", "Shell", { command: "touch made; printf '1 failing\\nexpected 1200, found 900\\n'" })}`,
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
		await decide(page, "1");
		await page.locator(".attention .diff").waitFor();
		await show("change");
		await decide(page, "1");
		await page.getByLabel("Euro").check();
		await show("question");
		await page.getByRole("button", { name: "Answer" }).click();
		await page.locator(".markdown strong", { hasText: "1" }).waitFor();
		await page.locator(".status", { hasText: "idle" }).waitFor();
		await show("conversation");
		await page.getByRole("button", { name: "Rewind" }).click();
		const rewind = page.getByRole("dialog", { name: "Rewind" });
		await rewind.locator("summary", { hasText: "basket.js" }).click();
		await rewind.locator(".diff").waitFor();
		await show("rewind");
		await rewind.getByRole("button", { name: "Cancel" }).click();
		await page.locator("main .actions").getByRole("button", { name: "Fork" }).click();
		const fork = page.getByRole("dialog", { name: "Fork" });
		await fork.getByLabel(/^In a new directory/).check();
		await show("fork");
		await fork.getByRole("button", { name: "Cancel" }).click();
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

	it.each(["light", "dark"] as const)("has its less common states in %s, at four widths", slow, async (colorScheme) => {
		const large = Array.from({ length: 120 }, (_, index) => `line ${index}`);
		const todos = ["Read", "Change", "Test"].map((title, index) => ({
			title,
			status: index === 0 ? "done" : "pending",
		}));
		const stage = createStage({
			scripts: [
				toolCall("e", "EnterPlanMode", {}),
				"text: I will plan it.",
				`${toolCall("b", "Shell", { command: "touch made; sleep 600", run_in_background: true, description: "a long build" })}\n${toolCall("t", "SetTodoList", { todos })}`,
				toolCall("w", "WriteFile", { path: "large.txt", content: large.map((line) => `${line} now`).join("\n") }),
				`${toolCall("g", "Glob", { pattern: "*" })}\n${toolCall("h", "Grep", { pattern: "x" })}\n${toolCall("r", "ReadFile", { path: "large.txt" })}`,
				toolCall("s", "Agent", { description: "look around", prompt: "look", subagent_type: "explore" }),
				`text: ${"The subagent found nothing of note. ".repeat(12)}`,
				toolCall("q", "echo", { text: "to a tool server" }),
				toolCall("f", "Shell", { command: "touch made; echo broken >&2; exit 3" }),
				toolCall("z", "Shell", { command: "touch made; echo begun; sleep 600" }),
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
			await decide(page, "1");
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

	it.each(["light", "dark"] as const)(
		"has what is long, lost or settled elsewhere in %s, at four widths",
		slow,
		async (colorScheme) => {
			const word = "unbroken".repeat(30);
			const head = `| ${Array.from({ length: 9 }, (_, index) => `Column number ${index}`).join(" | ")} |`;
			const row = `| ${Array.from({ length: 9 }, (_, index) => `value ${index}`).join(" | ")} |`;
			const long = [
				`A word: ${word}`,
				`An address: https://example.com/${"a-part-of-a-path/".repeat(14)}`,
				`Code in a line: \`${word}\``,
				`1. A list\n   - within a list, with \`${word}\`\n   - [x] and a task that is done`,
				`> A quotation with ${word}`,
				`\`\`\`ts\nconst ${word} = "${"x".repeat(200)}"; // a line of code that is longer than any window\n\`\`\``,
				`${head}\n|${"---|".repeat(9)}\n${row}\n${row}`,
			].join("\n\n");
			const question = {
				question: `Which ${word}?`,
				options: [{ label: word, description: word }, { label: "Other" }],
			};
			const { stage, nextRequest } = await createHeldStage({
				scripts: [
					`text: I run it.\n${toolCall("a", "Shell", { command: `touch made; echo ${word} ${"and more ".repeat(30)}; echo broken >&2; exit 3` })}`,
					toolCall("b", "WriteFile", { path: `${word.slice(0, 120)}.txt`, content: `${word}\n${"x ".repeat(300)}\n` }),
					toolCall("q", "AskUserQuestion", { questions: [question] }),
					"text: All done.",
				],
			});
			const { address, url } = await serveWeb(stage);
			const browser = await launch();
			const context = await browser.newContext({ colorScheme, viewport: { width: 1440, height: 900 } });
			const { page, faults } = await watch(context);
			const { serious, show } = createShow(page, colorScheme);
			await beginSession(page, address);
			const { control = "" } = readTokens(path.join(stage.shareDir, "gateway.json"));
			const client = new GatewayClient(Number(new URL(url).port), control);
			const sessionId = decodeURIComponent(new URL(page.url()).hash.slice("#session=".length));
			await client.result("model.set", { sessionId, model: "held", thinking: null });
			await say(page, "Say much");
			const answer = await nextRequest();
			await answer.say(long);
			answer.end();
			await page.locator(".status", { hasText: "idle" }).waitFor();
			await client.result("model.set", { sessionId, model: "m", thinking: null });
			await page.locator(".log").evaluate((log: { scrollTop: number }) => {
				log.scrollTop = 0;
			});
			await show("long-text");
			await say(page, `Do ${word} with https://example.com/${word}`);
			await page.locator(".attention pre.command").waitFor();
			await page.locator("h1 .rename").click();
			await page.getByLabel("Title").fill(`A title that says all of it, and ${word.slice(0, 150)}`);
			await page.getByLabel("Title").press("Enter");
			await page.locator("h1", { hasText: "A title that says" }).waitFor();
			await show("long-command");
			await page.locator(".log").evaluate((log: { scrollTop: number }) => {
				log.scrollTop = 0;
			});
			await show("long-text");
			await decide(page, "4");
			await page.getByLabel("Why you reject it").waitFor();
			await show("explaining");
			await page.getByLabel("Why you reject it").fill(`not with ${word}`);
			await page.keyboard.press("Enter");
			await page.locator(".attention .diff").waitFor();
			await show("long-change");
			const other = (await watch(await browser.newContext())).page;
			await other.goto(address);
			await other.locator(".session-row button").first().click();
			await other.locator(".attention .diff").waitFor();
			await other.locator(`.panel[data-connection="live"]`).waitFor({ state: "attached" });
			// Both answer before either knows of the other's answer.
			const answering = createDeferred<Route>();
			await page.route("**/rpc", async (route) => {
				if (route.request().postData()?.includes("interaction.respond") === true) answering.resolve(route);
				else await route.fallback();
			});
			await decide(page, "1");
			const own = await answering.promise;
			await decide(other, "1");
			await other.locator(".attention form").waitFor();
			await own.fallback();
			await page.locator(".fault", { hasText: "Settled by another window" }).waitFor();
			await page.unroute("**/rpc");
			await show("settled-elsewhere");
			await page.locator(".fault button").click();
			await show("long-question");
			await page.getByLabel("Other", { exact: true }).check();
			await page.getByRole("button", { name: "Answer" }).click();
			await page.getByText("All done.").waitFor();
			await page.locator(".status", { hasText: "idle" }).waitFor();
			await show("long-results");
			await page.getByRole("button", { name: "Archive", exact: true }).click();
			await page.getByText("No sessions yet.").waitFor({ state: "attached" });
			await show("archived");
			await page.goto(`${url}/#session=no-such-session`);
			await page.reload();
			await page.getByRole("heading", { name: "This session cannot be opened" }).waitFor();
			await show("cannot-be-opened");
			await page.route("**/history?*", () => {});
			await page.goto(`${url}/#session=slow`);
			await page.reload();
			await page.getByText("Loading the conversation …").waitFor();
			await show("loading");
			expect(serious).toEqual([]);
			expect(faults).toEqual([]);
		},
	);

	it.each(["light", "dark"] as const)("has its first run in %s, at four widths", slow, async (colorScheme) => {
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
