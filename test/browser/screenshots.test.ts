// The states of the page at three widths, looked at by the checker of accessibility. AGENTWIRE_IMAGES=DIRECTORY writes an image of
// each; AGENTWIRE_IMAGES=docs makes those of docs/web.md.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
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
] as const;

describe.skipIf(!hasBrowser)("the page, to look at", () => {
	it.each(["light", "dark"] as const)("has its states in %s, at three widths", async (colorScheme) => {
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
		const serious: string[] = [];
		const show = async (state: string) => {
			serious.push(...(await findings(page)).map((each) => `${state}, ${each}`));
			for (const [width, name] of sizes) {
				await page.setViewportSize({ width, height: width === 390 ? 780 : 900 });
				const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
				expect(overflow, `${state} at ${width}`).toBeLessThanOrEqual(0);
				const image = `${state}-${name}-${colorScheme}`;
				if (images === null || (wanted === "docs" && !documented.includes(image))) continue;
				await page.screenshot({ path: path.join(images, `${image}.png`) });
			}
			await page.setViewportSize({ width: 1440, height: 900 });
		};
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
});
