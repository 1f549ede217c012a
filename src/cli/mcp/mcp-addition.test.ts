import { describe, expect, it } from "vitest";
import type { McpAddition } from "../arguments/options/mcp-options.ts";
import { toMcpEntry } from "./mcp-addition.ts";
import { McpError } from "./mcp-error.ts";

const nothing = { name: "add", server: "a", target: [], environment: [], headers: [], auth: null } as const;
const local: McpAddition = { ...nothing, transport: "stdio", target: ["cmd"] };
const remote: McpAddition = { ...nothing, transport: "http", target: ["https://a/mcp"] };

describe("the entry of an added server", () => {
	it.each<[object, McpAddition]>([
		[{ command: "cmd", args: [] }, local],
		[
			{ command: "cmd", args: ["-y", "x"] },
			{ ...local, target: ["cmd", "-y", "x"] },
		],
		[
			{ command: "cmd", args: [], env: { A: "b=c", E: "", " F": " g" } },
			{ ...local, environment: ["A=old", "A=b=c", "E=", " F= g"] },
		],
		[{ url: "https://a/mcp", transport: "http" }, remote],
		[
			{ url: "https://a/mcp", transport: "http", headers: { Key: "a:b" }, auth: "oauth" },
			{ ...remote, headers: [" Key :  a:b "], auth: "oauth" },
		],
	])("becomes %j", (entry, addition) => {
		// As text: the order of the keys counts too.
		expect(JSON.stringify(toMcpEntry(addition))).toBe(JSON.stringify(entry));
	});

	it.each<[string, McpAddition]>([
		["--transport takes stdio or http, found 'sse'.", { ...local, transport: "sse" }],
		["The command that starts the server is missing: mcp add NAME -- COMMAND [ARG…]", { ...local, target: [] }],
		["--header works only with --transport http.", { ...local, headers: ["A:b"] }],
		["--auth works only with --transport http.", { ...local, auth: "oauth" }],
		["--env takes KEY=VALUE; one of them has no KEY or no '='.", { ...local, environment: ["A=b", "secret"] }],
		["--env takes KEY=VALUE; one of them has no KEY or no '='.", { ...local, environment: ["=secret"] }],
		["The server's URL is missing: mcp add --transport http NAME URL", { ...remote, target: [] }],
		["With --transport http there is one URL and nothing else.", { ...remote, target: ["https://a", "b"] }],
		["The server's URL must begin with https:// or http://, found 'a.example'.", { ...remote, target: ["a.example"] }],
		["--env works only with --transport stdio.", { ...remote, environment: ["A=b"] }],
		["--header takes KEY:VALUE; one of them has no KEY or no ':'.", { ...remote, headers: ["secret"] }],
		[
			"--auth takes only oauth. A token goes into a header: --header KEY:VALUE, where KEY is Authorization.",
			{ ...remote, auth: "secret" },
		],
	])("is refused: %s", (message, addition) => {
		expect(() => toMcpEntry(addition)).toThrow(new McpError(message));
	});
});
