import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { McpTokens } from "./mcp-token-file.ts";
import { createMcpTokenStore } from "./mcp-tokens.ts";

let shareDir: string;
beforeEach(() => {
	shareDir = mkdtempSync(path.join(tmpdir(), "agentwire-mcp-tokens-"));
});
afterEach(() => rmSync(shareDir, { recursive: true }));

const directory = () => path.join(shareDir, "mcp-oauth");
const theFile = () => path.join(directory(), readdirSync(directory())[0] ?? "");
const createStore = (log: Log = silentLog) =>
	createMcpTokenStore({ files: createDiskFiles(), shareDir, log, clock: systemClock });

const tokens: McpTokens = {
	access_token: "access",
	token_type: "Bearer",
	refresh_token: "refresh",
	expires_at: 1_700_000_000,
	authorization_server: { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
	client: { client_id: "client" },
};

describe("the tokens of MCP servers", () => {
	it("are stored for the owner only, by URL without a trailing slash", async () => {
		const store = createStore();
		expect(await store.read("https://a.example/mcp")).toBeNull();
		await store.write("https://a.example/mcp/", tokens);
		await store.write("https://b.example/mcp", { ...tokens, access_token: "other" });
		expect(await store.read("https://a.example/mcp")).toEqual(tokens);
		expect((await store.read("https://b.example/mcp/"))?.access_token).toBe("other");
		const modes = [directory(), theFile()].map((name) => statSync(name).mode & 0o777);
		expect(modes).toEqual([0o700, 0o600]);
		expect(JSON.parse(readFileSync(theFile(), "utf8"))).toHaveProperty("server_url");
	});

	it("are deleted, whether or not there are any", async () => {
		const store = createStore();
		await store.remove("https://a.example/mcp");
		await store.write("https://a.example/mcp", tokens);
		await store.remove("https://a.example/mcp/");
		expect(readdirSync(directory())).toEqual([]);
	});

	it.each([
		["invalid JSON", "secret-token"],
		[
			"other JSON",
			JSON.stringify({ ...tokens, server_url: "https://a.example", access_token: 7, note: "secret-token" }),
		],
	])("count as missing when their file contains %s, and the log shows no content", async (_, content) => {
		const reported: unknown[] = [];
		const store = createStore({ ...silentLog, warn: (...entry) => reported.push(entry) });
		await store.write("https://a.example", tokens);
		writeFileSync(theFile(), content);
		expect(await store.read("https://a.example")).toBeNull();
		expect(reported).toHaveLength(1);
		expect(JSON.stringify(reported)).toContain(theFile());
		expect(JSON.stringify(reported)).not.toContain("secret");
	});

	it("count as missing when they are of another type than Bearer", async () => {
		const reported: unknown[] = [];
		const store = createStore({ ...silentLog, warn: (...entry) => reported.push(entry) });
		await store.write("https://a.example", { ...tokens, token_type: "bearer" });
		expect(await store.read("https://a.example")).toMatchObject({ token_type: "bearer" });
		await store.write("https://a.example", { ...tokens, token_type: "DPoP" });
		expect(await store.read("https://a.example")).toBeNull();
		expect(JSON.stringify(reported)).toContain('the token is of the type \\"DPoP\\"');
	});

	describe("of the Rust agent", () => {
		const foreignFile = () => path.join(shareDir, "credentials", "mcp_auth.json");
		const write = (content: string) => {
			mkdirSync(path.dirname(foreignFile()), { recursive: true });
			writeFileSync(foreignFile(), content, { mode: 0o640 });
		};
		const signIn = {
			client_id: "rust-client",
			token_response: {
				access_token: "rust-access",
				token_type: "bearer",
				expires_in: 3600,
				refresh_token: "rust-refresh",
				scope: "read write",
			},
			granted_scopes: ["read"],
			token_received_at: 1_700_000_000,
		};
		const servers = (entries: object) => write(JSON.stringify({ servers: entries }, null, 2));

		it("are a sign-in like our own, for the same server", async () => {
			servers({ "https://a.example/mcp": signIn });
			const store = createStore();
			expect(await store.read("https://a.example/mcp/")).toEqual({
				access_token: "rust-access",
				token_type: "bearer",
				refresh_token: "rust-refresh",
				scope: "read write",
				expires_at: 1_700_003_600,
				client: { client_id: "rust-client" },
			});
			expect(await store.read("https://b.example/mcp")).toBeNull();
		});

		it("count as missing when they are of another type than Bearer", async () => {
			servers({ "https://a.example": { ...signIn, token_response: { access_token: "a", token_type: "mac" } } });
			const reported: unknown[] = [];
			const store = createStore({ ...silentLog, warn: (...entry) => reported.push(entry) });
			expect(await store.read("https://a.example")).toBeNull();
			expect(JSON.stringify(reported)).toContain("only Bearer tokens can be used");
		});

		it("are accepted without the keys that older versions do not write", async () => {
			const { access_token, token_type } = signIn.token_response;
			servers({
				"https://a.example/": { client_id: "c", token_response: { access_token, token_type, expires_in: 60 } },
				"https://b.example": { ...signIn, token_response: { access_token, scope: null, refresh_token: null } },
			});
			expect(await createStore().read("https://a.example")).toEqual({
				access_token,
				token_type,
				client: { client_id: "c" },
			});
			expect(await createStore().read("https://b.example")).toEqual({
				access_token,
				token_type: "Bearer",
				scope: "read",
				client: { client_id: "rust-client" },
			});
		});

		it("are overridden by our own", async () => {
			servers({ "https://a.example": signIn });
			const store = createStore();
			await store.write("https://a.example", tokens);
			expect(await store.read("https://a.example")).toEqual(tokens);
		});

		it.each([
			[
				"a client without tokens",
				JSON.stringify({ servers: { "https://a.example": { ...signIn, token_response: null } } }),
				0,
			],
			["nothing", "{}", 0],
			["invalid JSON", "secret-token", 1],
			["another shape", '{"servers":["secret-token"]}', 1],
			["a broken entry", '{"servers":{"https://a.example":{"token_response":{"access_token":"secret-token"}}}}', 1],
		])("count as missing for %s, and the log shows no content", async (what, content, warnings) => {
			const reported: unknown[] = [];
			write(content);
			const store = createStore({ ...silentLog, warn: (...entry) => reported.push(entry) });
			expect(await store.read("https://a.example")).toBeNull();
			expect(reported).toHaveLength(warnings);
			expect(JSON.stringify(reported)).not.toContain("secret");
			await store.remove("https://a.example");
			const isReadable = what === "a client without tokens" || what === "a broken entry";
			const left = isReadable ? JSON.stringify({ servers: {} }, null, 2) : content;
			expect(readFileSync(foreignFile(), "utf8")).toBe(left);
		});

		it("are deleted with our own, and the other servers' remain", async () => {
			const other = { anything: [1, { deep: null }] };
			write(JSON.stringify({ note: 1, servers: { "https://a.example/": signIn, "https://b.example": other } }));
			const store = createStore();
			await store.write("https://a.example", tokens);
			await store.remove("https://a.example");
			expect(await store.read("https://a.example")).toBeNull();
			const left = JSON.stringify({ note: 1, servers: { "https://b.example": other } }, null, 2);
			expect(readFileSync(foreignFile(), "utf8")).toBe(left);
			expect(statSync(foreignFile()).mode & 0o777).toBe(0o640);
			await store.remove("https://c.example");
			expect(readFileSync(foreignFile(), "utf8")).toBe(left);
		});
	});

	it("are used exclusively, one caller at a time for each server", async () => {
		const order: string[] = [];
		const work = (name: string) => async () => {
			order.push(`${name} begins`);
			await new Promise((resolve) => setImmediate(resolve));
			order.push(`${name} ends`);
		};
		const url = "https://a.example";
		await Promise.all([createStore().exclusively(url, work("one")), createStore().exclusively(`${url}/`, work("two"))]);
		// Which of them is first is for the disk to say.
		const [first = "", , third = ""] = order.map((line) => line.split(" ")[0]);
		expect([first, third].sort()).toEqual(["one", "two"]);
		expect(order).toEqual([`${first} begins`, `${first} ends`, `${third} begins`, `${third} ends`]);
		expect(readdirSync(directory())).toEqual([]);
	});
});
