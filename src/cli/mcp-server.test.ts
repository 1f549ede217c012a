import { describe, expect, it } from "vitest";
import { type McpServer, readMcpServer } from "./mcp-server.ts";

const program = { kind: "local", command: "c", arguments: [], environment: {}, workDir: null } as const;
const remote = {
	kind: "remote",
	url: "https://a/mcp",
	transport: "http",
	headers: {},
	authorization: { kind: "none" },
} as const;
const url = "https://a/mcp";

describe("an entry of mcp.json", () => {
	it.each<[object, McpServer]>([
		[{ command: "c" }, program],
		[
			{ command: "c", args: ["-y"], env: { PORT: 1, ON: true }, cwd: "/w", type: "stdio", icon: 7 },
			{ ...program, arguments: ["-y"], environment: { PORT: "1", ON: "true" }, workDir: "/w" },
		],
		[{ command: "c", url, args: null, env: null }, program],
		[{ command: "c", url, transport: "http" }, remote],
		[{ url }, remote],
		[
			{ url, transport: "streamable-http", headers: { A: "b" } },
			{ ...remote, headers: { A: "b" } },
		],
		[
			{ url, type: "sse" },
			{ ...remote, transport: "sse" },
		],
		[{ url, type: "remote" }, remote],
		[{ url: "https://a/sse/x" }, { ...remote, url: "https://a/sse/x", transport: "sse" }],
		[{ url: "https://a/assessment" }, { ...remote, url: "https://a/assessment" }],
		[
			{ url: "https://a/sse", transport: "http" },
			{ ...remote, url: "https://a/sse" },
		],
		[
			{ url, auth: "oauth" },
			{ ...remote, authorization: { kind: "oauth" } },
		],
		[
			{ url, auth: "t0ken" },
			{ ...remote, authorization: { kind: "bearer", token: "t0ken" } },
		],
	])("is read: %j", (entry, server) => {
		expect(readMcpServer(entry)).toEqual({ ok: true, server });
	});

	it.each<[unknown, string]>([
		["secret", "it is no object"],
		[{}, "it has neither 'command' nor 'url'"],
		[{ command: 7 }, "'command' is no text"],
		[{ command: "c", args: "secret" }, "'args' is no list of strings"],
		[{ command: "c", args: ["a", 1] }, "'args' is no list of strings"],
		[{ command: "c", env: { A: ["secret"] } }, "'env' is no object of texts"],
		[{ url: "secret" }, "'url' is no http or https URL"],
		[{ url: "file:///secret" }, "'url' is no http or https URL"],
		[{ url, transport: "secret" }, "'transport' is none of http, streamable-http and sse"],
		[{ url, headers: "secret" }, "'headers' is no object of texts"],
		[{ url, auth: { token: "secret" } }, "'auth' is no text"],
	])("is refused, without its values: %j", (entry, reason) => {
		expect(readMcpServer(entry)).toEqual({ ok: false, reason });
	});
});
