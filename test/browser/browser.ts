// Chromium with a page of the gateway in it, as a person has it. Without Chromium the tests are skipped, with a line that says so.
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Stage } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";

const found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) =>
	existsSync(file),
);
export const hasBrowser = found !== undefined;
if (!hasBrowser) console.warn("skipped: the tests of the page need Chromium at /usr/bin/chromium");

export async function launch(...flags: string[]): Promise<Browser> {
	const browser = await chromium.launch({ executablePath: found ?? "", args: ["--no-sandbox", ...flags] });
	onTestFinished(() => browser.close());
	return browser;
}

export interface Served {
	readonly server: Server;
	readonly url: string;
	/** The address with the token. */
	readonly address: string;
}

/** Starts `agentwire web`. */
export async function serveWeb(stage: Stage, ...flags: string[]): Promise<Served> {
	const server = stage.serve(
		"web",
		"--no-open",
		"--json",
		...(flags.includes("--port") ? [] : ["--port", "0"]),
		...flags,
	);
	const [line] = await server.readUntil(() => true);
	const { url, page } = line as unknown as { url: string; page: string };
	return { server, url, address: page };
}

/** What a page did that it must not. */
export interface Watched {
	readonly page: Page;
	readonly requests: string[];
	readonly faults: string[];
}

export async function watch(context: BrowserContext): Promise<Watched> {
	const page = await context.newPage();
	page.setDefaultTimeout(20_000);
	const requests: string[] = [];
	const faults: string[] = [];
	page.on("request", (request) => requests.push(request.url()));
	page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
	page.on("dialog", (dialog) => {
		faults.push(`dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on("console", (message) => {
		if (/Content Security Policy|TrustedHTML/i.test(message.text())) faults.push(message.text());
	});
	return { page, requests, faults };
}

/** Opens the page and begins a session. */
export async function beginSession(page: Page, address: string): Promise<void> {
	await page.goto(address);
	await page.getByRole("button", { name: "Begin a session" }).click();
	await page.getByRole("heading", { name: "Start a conversation" }).waitFor();
}

export async function say(page: Page, text: string): Promise<void> {
	await page.getByLabel("Message to the agent").fill(text);
	await page.keyboard.press("Enter");
}

/** Answers what waits with a key, out of whatever field has the focus. */
export async function decide(page: Page, key: "1" | "2" | "3" | "4"): Promise<void> {
	await page.keyboard.press("Escape");
	await page.keyboard.press(key);
}
