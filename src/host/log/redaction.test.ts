import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { toLoggable } from "./log-fields.ts";

const secret = "Zm9vYmFyMTIzNDU2Nzg5";

describe("redactSecrets", () => {
	it.each([
		[`sk-${secret}`],
		[`sk-proj-${secret}`],
		[`token ghp_${secret}`],
		[`github_pat_11${secret}`],
		[`AIza${secret}${secret}`],
		[`eyJhbGciOiJIUzI1.${secret}.${secret}`],
		[`session-eyJhbGciOiJIUzI1.${secret}.${secret}`],
		[`session-service.eyJhbGciOiJIUzI1.eyJhbGciOiJIUzI1.${secret}`],
		[`Authorization: Bearer ${secret}`],
		[`authorization: bearer ${secret}`],
		[`Authorization: Basic ${secret}`],
		[`{"Authorization":"Basic ${secret}"}`],
		[`{"api_key":"${secret}"}`],
		[`{"apiKey": "${secret}"}`],
		[`api-key=${secret}`],
		[`KIMI_API_KEY=${secret}`],
		[`x-api-key: ${secret}`],
		[`https://example.com/?access_token=${secret}&a=1`],
		[`refresh_token: '${secret}'`],
		[`"{\\"client_secret\\":\\"${secret}\\"}"`],
		[`password = ${secret}`],
	])("redacts the secret in %s", (text) => expect(redactSecrets(text)).not.toContain(secret));

	it.each([
		["bearer".padEnd(1_000_000)],
		["api_key".padEnd(1_000_000)],
		["api_key".padEnd(1000).repeat(1000)],
		["authorization".padEnd(1_000_000)],
		["authorization:".padEnd(1_000_000)],
		["password =".padEnd(1_000_000)],
		[" ".repeat(1_000_000)],
		["-eyJaaaaaaaa".repeat(80_000)],
		["eyJaaaaaaaa.".repeat(80_000)],
		["eyJaaaaaaaa.a".repeat(80_000)],
		["a".repeat(1_000_000)],
		["sk-".repeat(300_000)],
	])("takes bounded time: %#", async (text) => {
		expect(await shortestPause(async () => redactSecrets(text))).toBeLessThan(longestPause);
	});

	it.each([
		"providers.p.api_key: must be a string, found a number",
		"mcpServers.web.headers.Authorization: must be a string, found a list",
		"headers.authorization: is required",
	])("preserves text about a key: %s", (text) => expect(redactSecrets(text)).toBe(text));

	it("preserves other text", () => {
		const text = "The task-risk of desk-work: skip tokens 5, passwordless, bearer of news; key=value /home/a/sk.txt";
		expect(redactSecrets(text)).toBe(text);
	});
});

describe("toLoggable", () => {
	const text = (fields: Record<string, unknown>) => JSON.stringify(toLoggable(fields));

	it.each([
		["a field with the name of a secret", { apiKey: secret }],
		["a field with underscores", { access_token: secret }],
		["a nested field", { request: { headers: { authorization: `Basic ${secret}` } } }],
		["a list", { keys: [{ api_key: secret }] }],
		["a text", { line: `api_key=${secret}` }],
		["an error", { error: new Error(`bad key sk-${secret}`) }],
		["the cause of an error", { error: new Error("a", { cause: new Error("b", { cause: { api_key: secret } }) }) }],
		["an error in a nested field", { detail: { error: new Error(`bad key sk-${secret}`) } }],
	])("redacts secrets in %s", (_name, fields) => expect(text(fields)).not.toContain(secret));

	it("preserves name, message and causes of errors, nested ones too", () => {
		const error = new TypeError("outer", { cause: new Error("inner", { cause: "root" }) });
		expect(toLoggable({ error })).toEqual({
			error: {
				name: "TypeError",
				message: "outer",
				stack: expect.stringContaining("outer"),
				cause: { name: "Error", message: "inner", stack: expect.any(String), cause: "root" },
			},
		});
		expect(text({ detail: { error } })).toContain("outer");
		expect(text({ errors: [error] })).toContain("inner");
	});

	it.each([
		[
			"circular values",
			Array.from({ length: 30 }).reduce<object>((inner) => ({ a: [inner, inner, inner], b: inner }), {}),
		],
		["a long list", Array.from({ length: 500_000 }, (_, index) => ({ index }))],
		["many fields", Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))],
	])("takes bounded time for %s", async (_name, value) => {
		expect(JSON.stringify(toLoggable({ value })).length).toBeLessThan(1_000_000);
		expect(await shortestPause(async () => toLoggable({ value }))).toBeLessThan(longestPause);
	});

	it("survives values that are no JSON", () => {
		const circle: Record<string, unknown> = { a: 1 };
		circle["self"] = circle;
		const error = new Error("x");
		error.cause = error;
		expect(() => text({ circle, error, big: { n: 5n }, nothing: undefined, call: () => 1 })).not.toThrow();
		expect(toLoggable({ n: 1, yes: true, none: null })).toEqual({ n: 1, yes: true, none: null });
	});
});
