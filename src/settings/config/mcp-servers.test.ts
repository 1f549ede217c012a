import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { McpServerSettings } from "../../api/mcp-servers.ts";
import { silentLog } from "../../base/log.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { parseMcpServers, readMcpServers } from "./mcp-servers.ts";

const everything = { names: null, hidden: [], includeTags: null, excludeTags: [] };
const local = {
	kind: "local",
	arguments: [],
	environment: {},
	workDir: null,
	callTimeout: null,
	filter: everything,
} as const;
const remote = {
	kind: "remote",
	transport: "http",
	headers: {},
	authorization: { kind: "none" },
	readTimeout: null,
	callTimeout: null,
	filter: everything,
} as const;

function parse(value: unknown): readonly McpServerSettings[] {
	return parseMcpServers(JSON.stringify(value), "mcp.json");
}

/** The one server with this entry. */
function parseEntry(entry: unknown): McpServerSettings | undefined {
	return parse({ mcpServers: { s: entry } })[0];
}

function failureOf(work: () => unknown): ConfigurationError {
	try {
		work();
	} catch (thrown) {
		if (thrown instanceof ConfigurationError) return thrown;
		throw thrown;
	}
	throw new Error("was accepted");
}

describe("the servers of a source", () => {
	it("are programs and addresses", () => {
		const entries = {
			files: { command: "npx", args: ["-y", "files"], env: { A: "b" }, cwd: "sub", timeout: 500 },
			web: { url: "https://example.com/mcp", headers: { "X-Key": "k" }, auth: "oauth", sse_read_timeout: 30 },
		};
		const servers = [
			{
				...local,
				name: "files",
				command: "npx",
				arguments: ["-y", "files"],
				environment: { A: "b" },
				workDir: "sub",
				callTimeout: 500,
			},
			{
				...remote,
				name: "web",
				url: "https://example.com/mcp",
				headers: { "X-Key": "k" },
				authorization: { kind: "oauth", client: null },
				readTimeout: 30,
			},
		];
		expect(parse({ mcpServers: entries })).toEqual(servers);
		expect(parse(entries)).toEqual(servers);
	});

	it.each<[string, unknown, object]>([
		["null for an absent value", { command: "c", args: null, env: null, cwd: null, timeout: null }, local],
		["unknown keys", { command: "c", disabled: false, description: "d", icon: 1 }, local],
		["a matching transport", { command: "c", transport: "stdio" }, local],
		["a matching type", { command: "c", type: "stdio" }, local],
		[
			"numbers and switches in an environment",
			{ command: "c", env: { P: 80, D: true } },
			{ environment: { P: "80", D: "true" } },
		],
		["a url next to a command", { command: "c", url: "http://h/" }, local],
		[
			"a url next to a command, with an explicit transport",
			{ command: "c", url: "http://h/", transport: "http" },
			remote,
		],
		["the old name of the transport", { url: "http://h/", transport: "streamable-http" }, remote],
		["a bearer token", { url: "http://h/", auth: "t" }, { authorization: { kind: "bearer", token: "t" } }],
		[
			"a client that was registered before",
			{ url: "http://h/", auth: "oauth", oauth_client: { id: "i", secret: "s", callback_port: 8976, name: "n" } },
			{ authorization: { kind: "oauth", client: { id: "i", secret: "s", callbackPort: 8976 } } },
		],
		[
			"a client with nothing but its name",
			{ url: "http://h/", auth: "oauth", oauth_client: { id: "i" } },
			{ authorization: { kind: "oauth", client: { id: "i", secret: null, callbackPort: null } } },
		],
		["keys of other programs about clients", { url: "http://h/", oauth: { clientId: "i" } }, remote],
		["events by the transport", { url: "http://h/", transport: "sse" }, { transport: "sse" }],
		["events by the type", { url: "http://h/", type: "sse" }, { transport: "sse" }],
		["an empty type", { url: "http://h/", type: "remote" }, remote],
		["events by a segment of the path", { url: "http://h/a/sse/?b" }, { transport: "sse" }],
		["no events by a part of a segment", { url: "http://h/sse-like" }, remote],
		["a list of tools", { command: "c", tools: ["a"] }, { filter: { ...everything, names: ["a"] } }],
		[
			"disabled tools",
			{ command: "c", tools: { a: false, b: { enabled: false }, c: true, d: { name: "e" } } },
			{ filter: { ...everything, hidden: ["a", "b"] } },
		],
		[
			"tags",
			{ command: "c", include_tags: ["a"], exclude_tags: ["b"] },
			{ filter: { ...everything, includeTags: ["a"], excludeTags: ["b"] } },
		],
	])("accept %s", (_, entry, expected) => {
		expect(parseEntry(entry)).toMatchObject(expected);
	});

	it("may be switched off, whatever else the entry has", () => {
		const program = { command: "x" };
		const off = { a: { ...program, disabled: true }, b: { ...program, enabled: false }, c: { url: 1, disabled: true } };
		const on = { d: { ...program, disabled: false, enabled: true }, e: { ...program, disabled: null } };
		expect(parse({ mcpServers: { ...off, ...on } }).map(({ name }) => name)).toEqual(["d", "e"]);
	});

	it("may be none", () => {
		expect(parse({})).toEqual([]);
		expect(parse({ mcpServers: {} })).toEqual([]);
		expect(parse({ $schema: "https://example.com", version: 1 })).toEqual([]);
	});
});

describe("an invalid source", () => {
	it.each<[unknown, string, RegExp]>([
		[[], "", /must be an object with the key mcpServers/],
		[
			{ mcpServers: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`s${n}`, { command: "x" }])) },
			"mcpServers",
			/^has 101 servers; at most 100 are started$/,
		],
		[{ mcpServers: [] }, "mcpServers", /must be an object of servers/],
		[{ mcpServers: null }, "mcpServers", /must be an object of servers/],
		[{ mcpServers: { s: {} } }, "mcpServers.s", /needs a command.* or the url/],
		[{ mcpServers: { s: "npx" } }, "mcpServers.s", /needs a command/],
		[{ mcpServers: { "a b": { command: 1 } } }, 'mcpServers."a b".command', /must be a string, found a number/],
		[{ s: { command: "" } }, "s.command", /must not be empty/],
		[{ s: { command: "c", args: "x" } }, "s.args", /must be a list of strings, found a string/],
		[{ s: { command: "c", args: ["a", 1] } }, "s.args[1]", /must be a string, found a number/],
		[{ s: { command: "c", env: { A: {} } } }, "s.env.A", /must be a string, found a table/],
		[{ s: { command: "c", timeout: 0 } }, "s.timeout", /must be more than 0/],
		[{ s: { command: "c", transport: "http" } }, "s.transport", /"stdio"/],
		[{ s: { url: "example.com" } }, "s.url", /must be an http or https URL/],
		[{ s: { url: "file:///etc" } }, "s.url", /must be an http or https URL/],
		[{ s: { url: "http://h/", transport: "websocket" } }, "s.transport", /"http", "streamable-http", "sse"/],
		[{ s: { url: "http://h/", headers: { "a b": "c" } } }, "s.headers", /headers cannot have/],
		[{ s: { url: "http://h/", headers: { a: "b\nc" } } }, "s.headers", /headers cannot have/],
		[{ s: { url: "http://h/", auth: "t\n" } }, "s.auth", /headers cannot have/],
		[{ s: { url: "http://h/", auth: { kind: "oauth" } } }, "s.auth", /must be a string, found a table/],
		[{ s: { url: "http://h/", auth: "oauth", oauth_client: { secret: "t" } } }, "s.oauth_client.id", /is required/],
		[{ s: { url: "http://h/", oauth_client: { id: "i" } } }, "s", /has an oauth_client, which .* "auth": "oauth"/],
		[
			{ s: { url: "http://h/", auth: "oauth", oauth_client: { id: "i", callback_port: 0 } } },
			"s.oauth_client.callback_port",
			/must be an integer from 1 to 65535, found 0/,
		],
		[{ s: { command: "c", tools: 1 } }, "s.tools", /must be a list of names or a table/],
	])("is reported with its key: %j", (value, key, reason) => {
		const { category, source, problems } = failureOf(() => parse(value));
		expect({ category, source }).toEqual({ category: "mcp-schema", source: "mcp.json" });
		expect(problems).toEqual([{ key, reason: expect.stringMatching(reason) }]);
	});

	it("is reported with all faults, and without any values", () => {
		const value = { s: { command: 1 }, t: { url: "secret", auth: 2 } };
		const { message } = failureOf(() => parse(value));
		expect(message).toMatch(/^Invalid MCP configuration mcp.json:\n {2}s.command: .*\n {2}t.url: .*\n {2}t.auth: /);
		expect(message).not.toContain("secret");
	});

	it("may be invalid JSON", () => {
		const error = failureOf(() => parseMcpServers('{"a":', "--mcp-config"));
		expect(error.category).toBe("mcp-syntax");
		expect(error.message).toMatch(/^Invalid JSON in MCP configuration --mcp-config:\n {2}not JSON/);
	});
});

describe("sources", () => {
	const text = (name: string, command: string) => JSON.stringify({ mcpServers: { [name]: { command } } });
	const read = async (sources: Partial<Parameters<typeof readMcpServers>[0]>, given: Record<string, string>) => {
		const files = createMemoryFiles();
		for (const [path, content] of Object.entries(given)) {
			await files.makeDirectory(path.slice(0, path.lastIndexOf("/")));
			await files.create(path, content);
		}
		const servers = await readMcpServers({ files: [], texts: [], shareDir: "/share", ...sources }, files, silentLog);
		return servers.map((server) => (server.kind === "local" ? `${server.name}=${server.command}` : server.name));
	};

	it("are the default file and texts, in this order", async () => {
		const given = { "/share/mcp.json": `\ufeff${text("a", "1")}` };
		expect(await read({}, given)).toEqual(["a=1"]);
		expect(await read({ texts: [text("b", "2"), text("a", "3")] }, given)).toEqual(["a=3", "b=2"]);
	});

	it("are the named files instead of the default one", async () => {
		const given = { "/share/mcp.json": text("a", "1"), "/x.json": text("b", "2"), "/y.json": text("b", "3") };
		expect(await read({ files: ["/x.json", "/y.json"] }, given)).toEqual(["b=3"]);
	});

	it("may be none, but a named file must exist", async () => {
		expect(await read({}, {})).toEqual([]);
		await expect(read({ files: ["/none.json"] }, {})).rejects.toThrow(/none\.json/);
	});
});
