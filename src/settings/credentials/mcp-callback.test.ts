import { createConnection } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { listenForCallback } from "./mcp-callback.ts";
import { McpSignInError } from "./mcp-sign-in-error.ts";

async function listen(clock: Clock = systemClock) {
	const stopping = new AbortController();
	const callback = await listenForCallback({ state: "the-state", port: null, signal: stopping.signal, clock });
	onTestFinished(() => callback.close());
	const get = async (query: string, init: RequestInit = {}) => {
		const response = await fetch(`${callback.redirectUrl}${query}`, init);
		return { status: response.status, headers: response.headers, page: await response.text() };
	};
	return { callback, get, stop: () => stopping.abort() };
}

describe("the callback of a sign-in", () => {
	it("listens on a port of its own of 127.0.0.1", async () => {
		const [one, two] = [await listen(), await listen()];
		const urls = [one.callback.redirectUrl, two.callback.redirectUrl];
		expect(urls.map((url) => url.replace(/\d+\/callback$/, "PORT"))).toEqual(Array(2).fill("http://127.0.0.1:PORT"));
		expect(new Set(urls).size).toBe(2);
	});

	it("returns the answer, and shows a page without its contents", async () => {
		const { callback, get } = await listen();
		const { status, headers, page } = await get("?code=the-code&state=the-state&iss=https%3A%2F%2Fas.example");
		expect(Object.fromEntries(await callback.answer)).toMatchObject({ code: "the-code", iss: "https://as.example" });
		expect(status).toBe(200);
		expect(page).toContain("Permission was given.");
		expect(page).not.toContain("the-code");
		expect([headers.get("referrer-policy"), headers.get("cache-control")]).toEqual(["no-referrer", "no-store"]);
	});

	it("returns a refusal", async () => {
		const { callback, get } = await listen();
		expect((await get("?error=access_denied&state=the-state")).page).toContain("Permission was not given.");
		expect((await callback.answer).get("error")).toBe("access_denied");
	});

	it.each([
		["of another state", "?code=x&state=other", {}, 400],
		["without a state", "?code=x", {}, 400],
		["to another page", "/more?code=x&state=the-state", {}, 404],
		["without a query", "", {}, 404],
		["with another method", "?code=x&state=the-state", { method: "POST" }, 404],
	])("continues to wait after a request %s", async (_, query, init, status) => {
		const { callback, get } = await listen();
		expect(await get(query, init)).toMatchObject({ status });
		await get("?code=right&state=the-state");
		expect((await callback.answer).get("code")).toBe("right");
	});

	it("ends after five minutes", async () => {
		const clock = createSteppingClock(0);
		const { callback } = await listen(clock);
		await expect(callback.answer).rejects.toThrow(new McpSignInError("nobody signed in within 5 minutes"));
		expect(clock.waited).toBe(300_000);
	});

	it("ends when it is aborted", async () => {
		const { callback, stop } = await listen();
		stop();
		await expect(callback.answer).rejects.toThrow(new McpSignInError("it was interrupted"));
	});

	it("closes its port", async () => {
		const { callback } = await listen();
		callback.close();
		const socket = createConnection({ host: "127.0.0.1", port: Number(new URL(callback.redirectUrl).port) });
		const error = await new Promise<unknown>((resolve) => socket.once("error", resolve));
		expect(error).toMatchObject({ code: "ECONNREFUSED" });
	});
});
