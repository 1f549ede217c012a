import { refreshAuthorization } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { failureText, inTime, isSecure } from "./mcp-request.ts";

/** Asks an authorization server at this address that answers so. */
async function renewAt(address: string, answer: () => Response): Promise<unknown> {
	const network = { clock: createFakeClock(), fetch: async () => answer() };
	return await inTime(network, new AbortController().signal, (fetchFn) =>
		refreshAuthorization(address, { clientInformation: { client_id: "c" }, refreshToken: "r", fetchFn }),
	);
}

it.each<[string, () => Response, string]>([
	["no JSON", () => new Response("<html>"), "HTTP 200, but not as an authorization server does"],
	[
		"no tokens",
		() => Response.json({ token_type: "Bearer" }),
		"HTTP 200, but not as an authorization server does (missing or invalid: access_token)",
	],
	["an error page", () => new Response("<html>", { status: 502 }), "HTTP 502, but not as an authorization server does"],
	[
		"a redirect",
		() => new Response("", { status: 307, headers: { location: "https://other.example/" } }),
		"HTTP 307, but not as an authorization server does",
	],
])("an answer that is %s is said with its address and status", async (_, answer, text) => {
	await expect(renewAt("https://h.example", answer)).rejects.toThrow(`https://h.example/token answered with ${text}`);
});

it("an error of the authorization server remains that", async () => {
	const refuse = () => Response.json({ error: "invalid_grant", error_description: "It is used." }, { status: 400 });
	await expect(renewAt("https://h.example", refuse)).rejects.toMatchObject({
		code: "invalid_grant",
		message: "It is used.",
	});
});

it("nothing is posted where it can be read on the way", async () => {
	const network = { clock: createFakeClock(), fetch: async () => new Response("") };
	const post = inTime(network, new AbortController().signal, (fetch) =>
		fetch("http://h.example/register?a=b", { method: "POST" }),
	);
	await expect(post).rejects.toThrow(
		"http://h.example/register does not use https, which an authorization server must",
	);
});

it.each([
	["https://h.example/", true],
	["http://127.0.0.1:80/", true],
	["http://[::1]/", true],
	["http://localhost:1234/", true],
	["http://a.localhost/", true],
	["http://h.example/", false],
	["http://127.0.0.1.example/", false],
	["http://localhost.example/", false],
	["ftp://localhost/", false],
])("an address is secure or not: %s", (address, expected) => {
	expect(isSecure(new URL(address))).toBe(expected);
});

it("a failure is said with its cause, once", () => {
	const refused = new Error("connect ECONNREFUSED\n127.0.0.1:1");
	expect(failureText(new TypeError("fetch failed", { cause: refused }))).toBe(
		"fetch failed: connect ECONNREFUSED 127.0.0.1:1",
	);
	const quoting = new Error("the tokens could not be renewed: connect ECONNREFUSED 127.0.0.1:1", { cause: refused });
	expect(failureText(quoting)).toBe("the tokens could not be renewed: connect ECONNREFUSED 127.0.0.1:1");
	expect(failureText("no")).toBe("no");
	expect(failureText(new Error("x".repeat(400)))).toBe(`${"x".repeat(300)}…`);
});
