import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { ask, type PlatformPort, requestTimeout, toAddress } from "./exchange.ts";

const url = new URL("https://auth.example.com/api/oauth/token");
const never = new AbortController().signal;
const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
const portWith = (fetch: typeof globalThis.fetch): PlatformPort => ({ fetch, clock, version: "1.2.3" });

/** Answers nothing until it is given up. */
const silent: typeof globalThis.fetch = (_url, init) =>
	new Promise((_resolve, reject) => {
		const giveUp = () => reject(new Error("aborted"));
		if (init?.signal?.aborted === true) giveUp();
		init?.signal?.addEventListener("abort", giveUp);
	});

describe("toAddress", () => {
	it.each([
		["https://a.example.com", "https://a.example.com/x"],
		["https://a.example.com/b//?q=1", "https://a.example.com/b/x?q=1"],
		["http://127.0.0.1:8080/", "http://127.0.0.1:8080/x"],
		["a.example.com", null],
		["ftp://a.example.com", null],
		["https://me@a.example.com", null],
		["", null],
	])("of %j is %j", (base, address) => expect(toAddress(base, "/x")?.href ?? null).toBe(address));
});

describe("ask", () => {
	it("sends a form, without following redirects, and reads the answer", async () => {
		const seen: Request[] = [];
		const answer = await ask(
			portWith(async (target, init) => {
				seen.push(new Request(String(target), init));
				return new Response('{"a":1}', { status: 418 });
			}),
			{ url, form: { client_id: "p q", code: "ü&=" } },
			never,
		);
		expect(answer).toEqual({ kind: "answered", status: 418, body: { a: 1 } });
		expect(seen).toMatchObject([{ method: "POST", redirect: "manual", url: url.href }]);
		expect(await seen[0]?.text()).toBe("client_id=p+q&code=%C3%BC%26%3D");
	});

	it.each([
		["invalid JSON", "<html>"],
		["nothing", ""],
		["an oversized body", JSON.stringify("x".repeat(2 * 1024 * 1024))],
	])("returns no body for %s", async (_, text) => {
		expect(
			await ask(
				portWith(async () => new Response(text)),
				{ url },
				never,
			),
		).toEqual({
			kind: "answered",
			status: 200,
			body: null,
		});
	});

	it("has a time limit for the answer", async () => {
		const fake = createFakeClock();
		const asked = ask({ fetch: silent, clock: fake, version: "1" }, { url }, never);
		fake.advance(requestTimeout - 1);
		expect(await Promise.race([asked, Promise.resolve("waiting")])).toBe("waiting");
		fake.advance(1);
		expect(await asked).toEqual({ kind: "unreachable", reason: "auth.example.com: no answer for 15 s" });
		expect(fake.waiting()).toBe(0);
	});

	it("ends at an abort", async () => {
		const stopping = new AbortController();
		const asked = ask(portWith(silent), { url }, stopping.signal);
		stopping.abort();
		expect(await asked).toMatchObject({ kind: "unreachable" });
		expect(await ask(portWith(silent), { url }, AbortSignal.abort())).toMatchObject({ kind: "unreachable" });
	});

	it("names the cause of a failed connection, without secrets", async () => {
		const cause = new Error("refused for sk-0123456789abcdef");
		const asked = ask(
			portWith(() => Promise.reject(new TypeError("fetch failed", { cause }))),
			{ url },
			never,
		);
		expect(await asked).toEqual({ kind: "unreachable", reason: "auth.example.com: refused for [redacted]" });
	});

	it("closes the connection when an answer breaks off", async () => {
		const server = createServer((_request, response) => {
			response.writeHead(200, { "content-length": "100" });
			response.write("{");
			response.socket?.destroySoon();
		}).listen(0, "127.0.0.1");
		onTestFinished(() => void server.close());
		await new Promise((resolve) => server.once("listening", resolve));
		const address = server.address();
		const port = address === null || typeof address === "string" ? 0 : address.port;
		const asked = ask(portWith(globalThis.fetch), { url: new URL(`http://127.0.0.1:${port}/`) }, never);
		expect(await asked).toMatchObject({ kind: "unreachable" });
	});
});
