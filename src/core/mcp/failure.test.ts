import {
	ProtocolError,
	SdkError,
	SdkErrorCode,
	SdkHttpError,
	SseError,
	UnauthorizedError,
} from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { NetworkError } from "../../ports/network/network-error.ts";
import { isOfNewEra, type LinkFailure, toLinkFailure } from "./failure.ts";
import { NotSignedIn } from "./link.ts";

const http = (status: number, text = "") =>
	new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing: ${text}`, { status, statusText: "", text });
const sse = (code: number | undefined, text: string | undefined) =>
	new SseError(code, text, new Event("error") as never);
const withCode = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

describe("a failure", () => {
	it.each<[string, unknown, Omit<LinkFailure, "name">]>([
		["no sign-in", new NotSignedIn(), { kind: "unauthorized", reason: "nobody has signed in to it" }],
		["a refused sign-in", new UnauthorizedError("x"), { kind: "unauthorized", reason: "it rejected the sign-in" }],
		[
			"a sign-in refused after a renewal",
			new SdkHttpError(SdkErrorCode.ClientHttpAuthentication, "401", { status: 401, statusText: "" }),
			{ kind: "unauthorized", reason: "it rejected the sign-in" },
		],
		["an error of the server", new ProtocolError(-32602, "No such tool."), { kind: "answer", reason: "No such tool" }],
		[
			"an invalid answer",
			new SdkError(SdkErrorCode.InvalidResult, "Invalid result"),
			{ kind: "answer", reason: "Invalid result" },
		],
		["an HTTP error", http(500, "Oh no."), { kind: "answer", reason: "http://h/mcp answered with HTTP 500: Oh no" }],
		["an unknown session", http(404, "Gone"), { kind: "untaken", reason: "http://h/mcp answered with HTTP 404: Gone" }],
		["a missing session", http(400, "None"), { kind: "untaken", reason: "http://h/mcp answered with HTTP 400: None" }],
		[
			"a refused connection",
			new TypeError("fetch failed", { cause: withCode("ECONNREFUSED") }),
			{ kind: "untaken", reason: "fetch failed: connect ECONNREFUSED" },
		],
		[
			"a refused connection at every address",
			new TypeError("fetch failed", { cause: new AggregateError([withCode("ENETUNREACH"), withCode("ECONNREFUSED")]) }),
			{ kind: "untaken", reason: "fetch failed: connect ENETUNREACH" },
		],
		[
			"a refusing proxy",
			new TypeError("fetch failed", { cause: new NetworkError("proxy", "the proxy refuses") }),
			{ kind: "untaken", reason: "fetch failed: the proxy refuses" },
		],
		[
			"an answer that is too large",
			new TypeError("terminated", { cause: new NetworkError("size", "the answer has more than 9 MiB") }),
			{ kind: "answer", reason: "terminated: the answer has more than 9 MiB" },
		],
		[
			"a connection that broke off",
			new TypeError("fetch failed", { cause: withCode("ECONNRESET") }),
			{ kind: "lost", reason: "fetch failed: connect ECONNRESET" },
		],
		[
			"a closed connection",
			new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"),
			{ kind: "lost", reason: "Connection closed" },
		],
		[
			"an answer that was broken off",
			new ProtocolError(-32000, "the server broke off its answer"),
			{ kind: "lost", reason: "the server broke off its answer" },
		],
		["anything else", "who knows", { kind: "lost", reason: "who knows" }],
	])("is classified: %s", async (_, thrown, failure) => {
		const name = thrown instanceof Error ? thrown.name : "Error";
		expect(await toLinkFailure(thrown, "http://h/mcp?key=k")).toEqual({ ...failure, name });
	});

	it("names the status of an answer without a text", async () => {
		const thrown = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "Error POSTing to endpoint", {
			status: 502,
			statusText: "Bad Gateway",
		});
		const { reason } = await toLinkFailure(thrown, "http://h/mcp");
		expect(reason).toBe("http://h/mcp answered with HTTP 502 Bad Gateway");
	});

	it.each<[string, unknown, Omit<LinkFailure, "name">]>([
		[
			"a redirect",
			new SdkHttpError(
				SdkErrorCode.ClientHttpNotImplemented,
				"Error POSTing to endpoint: Redirect to http://o/mcp not followed (redirectPolicy: 'same-origin')",
				{ status: 307, statusText: "Temporary Redirect", text: "" },
			),
			{
				kind: "answer",
				reason: "http://h/mcp answered with HTTP 307 Temporary Redirect: Redirect to http://o/mcp not followed",
			},
		],
		[
			"content of another type",
			new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, "Unexpected content type", { contentType: "text/html" }),
			{
				kind: "lost",
				reason:
					"http://h/mcp answered with content of the type text/html, not with JSON or an event stream: it may not be the address of an MCP server",
			},
		],
		[
			"no content",
			new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, "Unexpected content type: null", { contentType: null }),
			{
				kind: "lost",
				reason: expect.stringMatching(/^http:\/\/h\/mcp answered without content, not with JSON or /),
			},
		],
		[
			"no JSON",
			new SyntaxError("Unexpected end of JSON input"),
			{ kind: "lost", reason: "http://h/mcp answered with invalid JSON: Unexpected end of JSON input" },
		],
		[
			"no message",
			Object.assign(new Error("[]"), { name: "ZodError" }),
			{ kind: "lost", reason: "http://h/mcp sent something that is not a protocol message" },
		],
		[
			"an invalid result",
			new SdkError(
				SdkErrorCode.InvalidResult,
				`Invalid result for initialize: ${JSON.stringify([..."abcd"].map((key) => ({ path: [key, 0], message: "no" })))}`,
			),
			{ kind: "answer", reason: "Invalid result for initialize: a.0: no; b.0: no; c.0: no; and more" },
		],
		[
			"a message refused beside a stream of events",
			new Error("Error POSTing to endpoint (HTTP 500): Oh no."),
			{ kind: "answer", reason: "http://h/mcp answered with HTTP 500: Oh no" },
		],
		[
			"such a message of an unknown session",
			new Error("Error POSTing to endpoint (HTTP 404): Gone"),
			{ kind: "untaken", reason: "http://h/mcp answered with HTTP 404: Gone" },
		],
		["a refused stream of events", sse(403, "x"), { kind: "lost", reason: "http://h/mcp answered with HTTP 403" }],
		[
			"no stream of events",
			sse(200, "x"),
			{ kind: "lost", reason: "http://h/mcp answered with HTTP 200, but not with an event stream" },
		],
		["an ended one", sse(undefined, undefined), { kind: "lost", reason: "the event stream of http://h/mcp ended" }],
		["a broken one", sse(undefined, "It has more than 9 MiB."), { kind: "lost", reason: "It has more than 9 MiB" }],
	])("of an answer is in words: %s", async (_, thrown, failure) => {
		expect(await toLinkFailure(thrown, "http://h/mcp?key=k")).toMatchObject(failure);
	});

	it("is reported without secrets, on one line, and truncated", async () => {
		const { reason } = await toLinkFailure(new Error(`Bearer abcdefghijkl is\nno good. ${"x".repeat(1000)}`), null);
		expect(reason).toMatch(/^Bearer \[redacted\] is no good\. x+$/);
		expect(reason).toHaveLength(500);
	});
});

describe("a server with only the new protocol", () => {
	const rpc = (code: number) => JSON.stringify({ jsonrpc: "2.0", id: 0, error: { code, message: "m" } });

	it.each<[unknown, boolean]>([
		[new ProtocolError(-32601, "Method not found"), true],
		[new ProtocolError(-32022, "Unsupported protocol version"), true],
		[new ProtocolError(-32603, "Internal error"), false],
		[http(400, rpc(-32020)), true],
		[http(400, rpc(-32022)), true],
		[http(400, rpc(-32600)), false],
		[http(400, "Bad request"), false],
		[new Error("Server's protocol version is not supported: 2026-07-28"), true],
		[new SseError(undefined, "closed", new Event("error") as never), false],
		[new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"), false],
	])("is recognized by its answer: %s", async (thrown, expected) => {
		expect(await isOfNewEra(thrown)).toBe(expected);
	});
});
