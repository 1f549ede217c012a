import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { newSessionParamsSchema as draftSessionParamsSchema } from "./v2/wire.ts";
import { clientCapabilitiesSchema, mcpServerSchema, newSessionParamsSchema } from "./wire.ts";

const faultOf = (server: unknown) => {
	const { issues } = v.safeParse(newSessionParamsSchema, { cwd: "/", mcpServers: [server] });
	return issues?.[0].message;
};

describe("the MCP servers of a client", () => {
	it.each([
		{ name: "a", command: "/bin/a", args: [], env: [] },
		{ type: "stdio", name: "a", command: "/bin/a", args: [], env: [] },
		{ type: "http", name: "a", url: "http://a.example", headers: [] },
	])("are taken as the protocol has them: %j", (server) => {
		expect(v.safeParse(mcpServerSchema, server).success).toBe(true);
	});

	it.each<[unknown, string]>([
		["files", "an MCP server is an object"],
		[{ name: "files" }, '"command" of the MCP server "files" of the type "stdio" is missing'],
		[{ command: "/bin/a" }, '"name" of an MCP server of the type "stdio" is missing'],
		[{ type: "http", name: "web" }, '"url" of the MCP server "web" of the type "http" is missing'],
		[{ type: "acp", name: "web" }, 'the MCP server "web" needs the type "stdio", "http" or "sse"'],
		[
			{ name: "files", command: "/bin/a", args: 5 },
			'"args" of the MCP server "files" of the type "stdio" cannot be used, because Array is needed',
		],
		[
			{ name: "files", command: "/bin/a", env: [{ name: "A" }] },
			'"env.0.value" of the MCP server "files" of the type "stdio" is missing',
		],
	])("are refused by name and field: %j", (server, fault) => {
		expect(faultOf(server)).toBe(fault);
	});

	it("are at most a hundred, each of which may be a process", () => {
		const serversOf = (count: number) =>
			Array.from({ length: count }, (_, n) => ({ type: "stdio", name: `s${n}`, command: "/bin/a", args: [], env: [] }));
		for (const schema of [newSessionParamsSchema, draftSessionParamsSchema]) {
			const faultOfMany = (count: number) =>
				v.safeParse(schema, { cwd: "/", mcpServers: serversOf(count) }).issues?.[0].message;
			expect(faultOfMany(100)).toBeUndefined();
			expect(faultOfMany(101)).toBe("101 MCP servers are given; at most 100 are started in a session");
		}
	});

	it("are named by no more than the beginning of a long name", () => {
		expect(faultOf({ name: "x".repeat(5000) })?.length).toBeLessThan(400);
	});
});

describe("the capabilities of a client", () => {
	it("are none where they are absent, null or unreadable", () => {
		const none = v.parse(clientCapabilitiesSchema, null);
		expect(v.parse(clientCapabilitiesSchema, { fs: 5, elicitation: { form: null }, terminal: "yes" })).toEqual(none);
	});
});
