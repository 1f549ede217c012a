// What the `mcp` commands say about entries and servers of all kinds; files and whole sign-ins are in the end-to-end tests.
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { plainNetwork } from "../../../test/support/host/network.ts";
import { startMcpOAuthServer } from "../../../test/support/mcp/mcp-oauth-server.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import { createMcpAuthorization } from "../../settings/credentials/mcp-oauth.ts";
import type { McpAction } from "../arguments/options/mcp-options.ts";
import { carryOut } from "./mcp.ts";

const shareDir = "/share";

function isRunning(processId: number): boolean {
	try {
		// What nobody has waited for yet has a number still, and no command any more.
		if (existsSync("/proc/self")) return readFileSync(`/proc/${processId}/cmdline`).length > 0;
		return process.kill(processId, 0);
	} catch {
		return false;
	}
}

/** Carries out commands for a file with these servers. */
async function createCommands(
	mcpServers: object,
	clock: Clock = systemClock,
	/** What is different of the disk once the servers are in its file. */
	different: Partial<Files> = {},
) {
	const disk = createMemoryFiles();
	await disk.makeDirectory(shareDir);
	await disk.replace(`${shareDir}/mcp.json`, JSON.stringify({ mcpServers }));
	const files: Files = { ...disk, ...different };
	return async (action: McpAction, signal = new AbortController().signal) => {
		const said = { stdout: [] as string[], stderr: [] as string[] };
		const code = await carryOut(action, {
			executableName: "kimi",
			files,
			clock,
			shareDir,
			place: { currentDir: "/", home: "/home/me" },
			environment: { PATH: process.env["PATH"] ?? "" },
			authorization: createMcpAuthorization({
				files,
				shareDir,
				log: silentLog,
				clock: systemClock,
				fetch: plainNetwork.fetch,
			}),
			processes: createProcesses(),
			fetch: plainNetwork.fetch,
			openPage: async () => false,
			signal,
			print: (line) => said.stdout.push(line),
			complain: (line) => said.stderr.push(line),
		});
		return { code, ...said };
	};
}

/** A server over HTTP that lets everybody in and has these tools. With `onRequest` it never answers. */
async function startOpenServer(tools: readonly object[], onRequest: (() => void) | null = null) {
	const received: IncomingHttpHeaders[] = [];
	const server = createServer(async (request, response) => {
		received.push(request.headers);
		let body = "";
		for await (const piece of request) body += String(piece);
		if (onRequest !== null) return onRequest();
		if (request.method !== "POST") return response.writeHead(405).end();
		const { id, method, params } = JSON.parse(body);
		if (id === undefined) return response.writeHead(202).end();
		const serverInfo = { name: "open", version: "1" };
		const greeting = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
		const result = method === "initialize" ? greeting : { tools };
		response.writeHead(200, { "content-type": "application/json" });
		return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const address = server.address();
	if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
	return { url: `http://127.0.0.1:${address.port}/mcp`, received };
}

const tool = (name: string, description?: string) => ({ name, description, inputSchema: { type: "object" } });

describe("mcp list", () => {
	it("shows every kind of server, and reports invalid ones on stderr", async () => {
		const mcp = await createCommands({
			local: { command: "npx", args: ["a", "b\nc\u001b[31m"] },
			streamable: { url: "https://a/mcp", transport: "streamable-http" },
			events: { url: "https://a/sse" },
			guarded: { url: "https://b/mcp", auth: "oauth" },
			token: { url: "https://c/mcp", auth: "a-token" },
			broken: { command: 7 },
		});
		expect(await mcp({ name: "list" })).toEqual({
			code: 0,
			stdout: [
				"MCP config file: /share/mcp.json",
				"  local (stdio): npx a b c\ufffd[31m",
				"  streamable (http): https://a/mcp",
				"  events (sse): https://a/sse",
				"  guarded (http): https://b/mcp [authorization required - run: kimi mcp auth guarded]",
				"  token (http): https://c/mcp",
			],
			stderr: ["/share/mcp.json: the server 'broken' cannot be used: command must be a string, found a number."],
		});
	});
});

describe("mcp test", () => {
	it("shows the tools, one per line, with the beginnings of their descriptions", async () => {
		const { url } = await startOpenServer([
			tool("fits", "🎉".repeat(50)),
			tool("long", "🎉".repeat(51)),
			tool("lines", "  One.\n\n\tTwo.\u001b[0m"),
			tool("silent"),
		]);
		const mcp = await createCommands({ a: { url } });
		expect(await mcp({ name: "test", server: "a" })).toEqual({
			code: 0,
			stdout: [
				"Testing connection to 'a'...",
				"✓ Connected to 'a'",
				"  Available tools: 4",
				"  Tools:",
				`    - fits: ${"🎉".repeat(50)}`,
				`    - long: ${"🎉".repeat(47)}...`,
				"    - lines: One. Two.\ufffd[0m",
				"    - silent",
			],
			stderr: [],
		});
	});

	it("lists nothing for a server without tools", async () => {
		const { url } = await startOpenServer([]);
		const mcp = await createCommands({ a: { url } });
		expect((await mcp({ name: "test", server: "a" })).stdout).toEqual([
			"Testing connection to 'a'...",
			"✓ Connected to 'a'",
			"  Available tools: 0",
		]);
	});

	it("sends the headers and the token of the entry", async () => {
		const { url, received } = await startOpenServer([]);
		const mcp = await createCommands({ a: { url, headers: { "X-Key": "abc", N: 7 }, auth: "a-token" } });
		expect(await mcp({ name: "test", server: "a" })).toMatchObject({ code: 0 });
		const [first] = received;
		expect(first).toMatchObject({ "x-key": "abc", n: "7", authorization: "Bearer a-token" });
	});

	it.each(["http", "sse"])("says how to sign in to a server over %s", async (transport) => {
		const { url } = await startMcpOAuthServer();
		const mcp = await createCommands({ a: { url, transport, auth: "oauth" } });
		expect(await mcp({ name: "test", server: "a" })).toMatchObject({
			code: 1,
			stderr: ["✗ Connection failed: UnauthorizedError: nobody has signed in. To sign in, run: kimi mcp auth a"],
		});
	});

	it("refuses an invalid entry", async () => {
		const mcp = await createCommands({ a: { url: "nowhere" } });
		expect(await mcp({ name: "test", server: "a" })).toEqual({
			code: 1,
			stdout: [],
			stderr: ["Error: /share/mcp.json: the server 'a' cannot be used: url must be an http or https URL."],
		});
	});

	it.each(["http", "sse"])("can be aborted while a server over %s does not answer", async (transport) => {
		const stopping = new AbortController();
		const { url } = await startOpenServer([], () => stopping.abort());
		const mcp = await createCommands({ a: { url, transport } });
		const running = mcp({ name: "test", server: "a" }, stopping.signal);
		expect(await running).toMatchObject({ code: 1, stderr: ["✗ Connection failed: Interrupted: it was stopped"] });
	});

	it("has a time limit, after which it ends the server", async () => {
		const directory = await mkdtemp(path.join(tmpdir(), "agentwire-mcp-"));
		onTestFinished(() => rm(directory, { recursive: true }));
		const clock = createFakeClock();
		const script = `sleep 300 & echo $! > ${directory}/pid; cat > ${directory}/heard`;
		const mcp = await createCommands({ a: { command: "/bin/sh", args: ["-c", script], cwd: directory } }, clock);
		const testing = mcp({ name: "test", server: "a" });
		const read = async (name: string) => await readFile(path.join(directory, name), "utf8").catch(() => "");
		await expect.poll(() => read("heard")).toContain('"method":"initialize"');
		const child = Number(await read("pid"));
		clock.advance(119_999);
		expect(isRunning(child)).toBe(true);
		clock.advance(1);
		expect(await testing).toMatchObject({
			code: 1,
			stderr: ["✗ Connection failed: Timeout: no answer within 120 seconds"],
		});
		expect(isRunning(child)).toBe(false);
	});
});

describe("mcp auth", () => {
	it("says when a server requires no sign-in", async () => {
		const { url } = await startOpenServer([tool("one")]);
		const mcp = await createCommands({ a: { url, auth: "oauth" } });
		expect(await mcp({ name: "auth", server: "a" })).toEqual({
			code: 0,
			stdout: ["Signing in to 'a'...", "✓ Connected to 'a', which needs no sign-in.", "Available tools: 1"],
			stderr: [],
		});
	});

	it("reports a failed connection", async () => {
		const mcp = await createCommands({ a: { url: "http://127.0.0.1:9/mcp", auth: "oauth" } });
		expect(await mcp({ name: "auth", server: "a" })).toEqual({
			code: 1,
			stdout: ["Signing in to 'a'..."],
			stderr: [expect.stringMatching(/^Error: Connecting to 'a' failed: fetch failed: .+\.$/)],
		});
	});
});

describe("an edit", () => {
	it.each([
		["EACCES", "you have no permission (EACCES). Make it readable and writable for you, for example with chmod"],
		["ENOSPC", "no space is left on the disk (ENOSPC). Free some space there, then try again."],
		["EROFS", "the file system is read-only (EROFS). Make it writable, then try again."],
	])("that the disk refuses with %s names the file and says what to do", async (code, text) => {
		const file = `${shareDir}/mcp.json`;
		const refused = Object.assign(new Error(`${code}: no, open '${file}'`), { code, path: file });
		const mcp = await createCommands({ a: { command: "x" } }, systemClock, { replace: () => Promise.reject(refused) });
		const { code: exitCode, stderr } = await mcp({ name: "remove", server: "a" });
		expect(exitCode).toBe(1);
		expect(stderr.join("\n")).toContain(`Error: ${file} cannot be used: ${text}`);
	});
});
