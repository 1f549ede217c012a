import { describe, expect, it } from "vitest";
import { toMcpServers } from "./mcp-servers.ts";

const filter = { names: null, hidden: [], includeTags: null, excludeTags: [] };

describe("the MCP servers of an editor", () => {
	it("are programs with their environment as names and values", () => {
		const env = [
			{ name: "A", value: "1" },
			{ name: "B", value: "" },
		];
		expect(toMcpServers([{ name: "files", command: "/bin/files", args: ["-v"], env }])).toEqual([
			{
				kind: "local",
				name: "files",
				callTimeout: null,
				filter,
				command: "/bin/files",
				arguments: ["-v"],
				environment: { A: "1", B: "" },
				workDir: null,
			},
		]);
	});

	it.each(["http", "sse"] as const)("are reached over %s with their headers", (type) => {
		const headers = [{ name: "Authorization", value: "Bearer x" }];
		expect(toMcpServers([{ type, name: "web", url: "https://a.example/mcp", headers }])).toEqual([
			{
				kind: "remote",
				name: "web",
				callTimeout: null,
				filter,
				url: "https://a.example/mcp",
				transport: type,
				headers: { Authorization: "Bearer x" },
				authorization: { kind: "none" },
				readTimeout: null,
			},
		]);
	});

	it("of one name are the last of them, in the place of the first", () => {
		const program = (name: string, command: string) => ({ name, command, args: [], env: [] });
		const servers = toMcpServers([program("a", "/1"), program("b", "/2"), program("a", "/3")]);
		expect(servers.map((server) => [server.name, server.kind === "local" && server.command])).toEqual([
			["a", "/3"],
			["b", "/2"],
		]);
	});
});
