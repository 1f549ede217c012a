// A real browser on the page of the gateway: Chromium from the system, driven over its own protocol.
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Stage } from "../executable/executable.ts";
import type { Server } from "../executable/running-server.ts";

/** Where distributions put it; `AGENTWIRE_CHROMIUM` names another one. */
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Null where there is none. */
export const chromiumPath = process.env["AGENTWIRE_CHROMIUM"] ?? places.find((place) => existsSync(place)) ?? null;

export interface Served {
	readonly server: Server;
	/** With the token behind `#`. */
	readonly address: string;
	readonly origin: string;
	readonly token: string;
	stop(): Promise<void>;
}

/** Starts `agentwire web` without opening a browser. */
export async function serveWeb(stage: Stage, ...flags: readonly string[]): Promise<Served> {
	const server = stage.serve("web", "--no-open", "--json", "--port", "0", ...flags);
	const [line] = await server.readUntil(() => true);
	const { url, page } = line as unknown as { readonly url: string; readonly page: string };
	return {
		server,
		address: page,
		origin: url,
		token: page.split("#token=")[1] ?? "",
		async stop() {
			server.kill("SIGTERM");
			await server.exited;
		},
	};
}

export interface Visitor {
	readonly page: Page;
	readonly context: BrowserContext;
	/** What the page's policy refused, errors of its scripts, and the addresses that it asked for. */
	readonly violations: string[];
	readonly faults: string[];
	readonly requested: string[];
}

let browser: Promise<Browser> | null = null;

function launch(extra: readonly string[]): Promise<Browser> {
	if (chromiumPath === null) throw new Error("There is no Chromium here.");
	return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-dev-shm-usage", ...extra] });
}

/** Closes the browser that the tests of a file share. */
export async function closeBrowser(): Promise<void> {
	const open = browser;
	browser = null;
	await (await open)?.close();
}

/** A window of its own, with its own storage. */
export async function visit(
	address: string,
	options: BrowserContextOptions = {},
	flags: readonly string[] = [],
): Promise<Visitor> {
	browser ??= launch([]);
	const own = flags.length > 0 ? await launch(flags) : await browser;
	const context = await own.newContext({ viewport: { width: 1440, height: 900 }, ...options });
	const page = await context.newPage();
	const visitor: Visitor = { page, context, violations: [], faults: [], requested: [] };
	page.on("console", (message) => {
		if (/Content Security Policy|Trusted/i.test(message.text())) visitor.violations.push(message.text());
	});
	page.on("pageerror", (error) => visitor.faults.push(String(error)));
	page.on("request", (request) => visitor.requested.push(request.url()));
	onTestFinished(async () => {
		await context.close();
		if (flags.length > 0) await own.close();
	});
	await page.goto(address);
	return visitor;
}

/** Opens a new session in the directory of the gateway. */
export async function beginSession({ page }: Visitor): Promise<void> {
	await page.locator(".welcome").getByRole("button", { name: "New session" }).click();
	await page.getByLabel("Message").waitFor();
}

export async function say({ page }: Visitor, text: string): Promise<void> {
	await page.getByLabel("Message").fill(text);
	await page.getByLabel("Message").press("Enter");
}
