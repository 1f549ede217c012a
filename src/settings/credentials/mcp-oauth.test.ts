// Signing in, renewal and refusal against an authorization server on loopback, over real HTTP.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AuthProvider } from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainNetwork } from "../../../test/support/host/network.ts";
import type { AuthorizationServerOptions } from "../../../test/support/mcp/authorization-server.ts";
import { type McpOAuthServer, signInAt, startMcpOAuthServer } from "../../../test/support/mcp/mcp-oauth-server.ts";
import { createFailingFiles } from "../../../test/support/store/failing-files.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { createMcpAuthorization, type McpAuthorizationOptions } from "./mcp-oauth.ts";
import type { McpInteraction } from "./mcp-sign-in.ts";
import { McpSignInError } from "./mcp-sign-in-error.ts";

let shareDir: string;
/** Milliseconds by which the clock of the client is ahead. */
let ahead: number;
beforeEach(() => {
	shareDir = mkdtempSync(path.join(tmpdir(), "agentwire-mcp-oauth-"));
	ahead = 0;
});
afterEach(() => rmSync(shareDir, { recursive: true }));

const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
const authorizationWith = (changes: Partial<McpAuthorizationOptions> = {}) =>
	createMcpAuthorization({
		files: createDiskFiles(),
		shareDir,
		log: silentLog,
		clock,
		fetch: plainNetwork.fetch,
		...changes,
	});

/** A person who signs in at once, unless a test has another one. */
const interaction = (open: (address: URL) => Promise<unknown> = signInAt): McpInteraction => ({
	open: async (address) => void (await open(address)),
	signal: new AbortController().signal,
});

async function signedIn(options: AuthorizationServerOptions = {}, changes: Partial<McpAuthorizationOptions> = {}) {
	const server = await startMcpOAuthServer(options);
	const authorization = authorizationWith(changes);
	await authorization.authorize(server.url, interaction());
	return { server, authorization, provider: await providerOf(server, changes) };
}

async function providerOf({ url }: McpOAuthServer, changes: Partial<McpAuthorizationOptions> = {}) {
	const provider = await authorizationWith(changes).provider(url);
	if (provider === null) throw new Error("nobody has signed in");
	return provider;
}

/** Does what a transport does with a provider; gives the status of the last answer. */
async function request({ url }: McpOAuthServer, provider: AuthProvider): Promise<number> {
	const send = async () => {
		const token = await provider.token();
		const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
		return await fetch(url, { method: "POST", headers, body: '{"method":"tools/list","id":1}' });
	};
	const first = await send();
	if (first.status !== 401) return first.status;
	await provider.onUnauthorized?.({ response: first, serverUrl: new URL(url), fetchFn: fetch });
	return (await send()).status;
}

function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const address = server.address();
			server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
		});
	});
}

const tokenFile = () => {
	const directory = path.join(shareDir, "mcp-oauth");
	const [name = "", ...others] = readdirSync(directory);
	expect(others).toEqual([]);
	return readFileSync(path.join(directory, name), "utf8");
};
const outcomes = ({ grants }: McpOAuthServer) => grants.map(({ type, error }) => error ?? type);
const signedInOnce = "authorization_code";

describe("signing in", () => {
	it("registers a client, uses PKCE, and stores what a renewal needs", async () => {
		const { server, provider } = await signedIn();
		expect(server.registrations).toMatchObject([
			{
				client_name: "agentwire",
				redirect_uris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)],
				grant_types: ["authorization_code", "refresh_token"],
				token_endpoint_auth_method: "none",
			},
		]);
		expect(JSON.parse(tokenFile())).toEqual({
			server_url: server.url,
			access_token: expect.stringMatching(/^access-/),
			token_type: "Bearer",
			refresh_token: expect.stringMatching(/^refresh-/),
			scope: "weather:read",
			expires_at: expect.closeTo(Date.now() / 1000 + 3600, -1),
			resource: server.url,
			authorization_server: { issuer: server.origin, token_endpoint: `${server.origin}/token`, auth_methods: ["none"] },
			client: { client_id: expect.any(String), auth_method: "none" },
		});
		expect(await request(server, provider)).toBe(200);
		expect(outcomes(server)).toEqual([signedInOnce]);
	});

	it.each(["client_secret_basic", "client_secret_post"] as const)(
		"sends the client secret as the server requires: %s",
		async (authMethod) => {
			const { server, provider } = await signedIn({ authMethod });
			server.expireTokens();
			expect(await request(server, provider)).toBe(200);
			expect(outcomes(server)).toEqual([signedInOnce, "refresh_token"]);
		},
	);

	it.each(["none", "client_secret_basic", "client_secret_post"] as const)(
		"uses an already registered client, identified by %s",
		async (authMethod) => {
			const server = await startMcpOAuthServer({ authMethod });
			const callbackPort = await freePort();
			const redirect_uris = [`http://127.0.0.1:${callbackPort}/callback`];
			const { body } = server.register(JSON.stringify({ redirect_uris, token_endpoint_auth_method: authMethod }));
			const { client_id: id, client_secret: secret = null } = JSON.parse(body);
			await authorizationWith().authorize(server.url, interaction(), {}, { id, secret, callbackPort });
			const provider = await providerOf(server);
			server.expireTokens();
			expect(await request(server, provider)).toBe(200);
			expect(outcomes(server)).toEqual([signedInOnce, "refresh_token"]);
			expect(server.registrations).toHaveLength(1);
		},
	);

	it("reports that the port of such a client is in use", async () => {
		const { server, authorization } = await signedIn();
		const callbackPort = Number(new URL(server.origin).port);
		const attempt = authorization.authorize(server.url, interaction(), {}, { id: "i", secret: null, callbackPort });
		await expect(attempt).rejects.toThrow(McpSignInError);
		await expect(attempt).rejects.toThrow(/^cannot wait for the browser's answer: .*EADDRINUSE/);
	});

	it("replaces an earlier sign-in", async () => {
		const { server, authorization, provider } = await signedIn();
		const before = await provider.token();
		await authorization.authorize(server.url, interaction());
		expect(await provider.token()).not.toBe(before);
	});

	it.each<[string, (server: McpOAuthServer) => void, string]>([
		["the person refuses", ({ conduct }) => Object.assign(conduct, { denies: true }), "permission was not given"],
		["the server refuses the tokens", ({ conduct }) => Object.assign(conduct, { tokenStatus: 500 }), "HTTP 500"],
		["the answer is from another server", ({ conduct }) => Object.assign(conduct, { mixesUp: true }), "other.example"],
	])("fails, and changes nothing, when %s", async (_, spoil, reason) => {
		const { server, authorization } = await signedIn();
		const before = tokenFile();
		spoil(server);
		const attempt = authorization.authorize(server.url, interaction());
		await expect(attempt).rejects.toThrow(McpSignInError);
		await expect(attempt).rejects.toThrow(reason);
		expect(tokenFile()).toBe(before);
	});

	it.each(["file:///etc/passwd", "ms-calculator:run"])("opens only web pages: not %s", async (page) => {
		const server = await startMcpOAuthServer({ authorizationEndpoint: page });
		const opened: URL[] = [];
		const attempt = authorizationWith().authorize(
			server.url,
			interaction(async (address) => opened.push(address)),
		);
		await expect(attempt).rejects.toThrow("the authorization server names no web page to sign in on");
		expect(opened).toEqual([]);
	});

	it("opens no page that others on the network can read or change", async () => {
		const server = await startMcpOAuthServer({ authorizationEndpoint: "http://auth.example/authorize" });
		const opened: URL[] = [];
		const attempt = authorizationWith().authorize(
			server.url,
			interaction(async (address) => opened.push(address)),
		);
		await expect(attempt).rejects.toThrow(
			"the page to sign in on, http://auth.example/authorize, does not use https, which it must",
		);
		expect(opened).toEqual([]);
	});

	it("fails when the server cannot be reached, with the cause", async () => {
		const attempt = authorizationWith().authorize("http://127.0.0.1:1/mcp", interaction());
		await expect(attempt).rejects.toThrow(/^fetch failed: (connect ECONNREFUSED|bad port)/);
	});

	it("can be aborted while it waits for the person", async () => {
		const server = await startMcpOAuthServer();
		const stopping = new AbortController();
		const attempt = authorizationWith().authorize(server.url, {
			open: async () => stopping.abort(),
			signal: stopping.signal,
		});
		await expect(attempt).rejects.toThrow(new McpSignInError("it was interrupted"));
	});

	it("can be removed", async () => {
		const { server, authorization, provider } = await signedIn();
		await authorization.forget(`${server.url}/`);
		expect(await authorization.provider(server.url)).toBeNull();
		await expect(request(server, provider)).rejects.toThrow(UnauthorizedError);
	});
});

describe("permissions that a server requires beyond those of the sign-in", () => {
	const options = { furtherScope: "weather:history" };
	const pageOf = async (authorization: ReturnType<typeof authorizationWith>, url: string) => {
		const pages: URL[] = [];
		const challenge = (await authorization.wanted(url)) ?? {};
		await authorization.authorize(
			url,
			interaction(async (address) => {
				pages.push(address);
				await signInAt(address);
			}),
			challenge,
		);
		return pages[0]?.searchParams.get("scope");
	};

	it.each([true, false])(
		"are requested with the others, and stored until then (scope in the token answer: %s)",
		async (reportsScope) => {
			const { server, authorization, provider } = await signedIn({ ...options, reportsScope });
			expect(await authorization.wanted(server.url)).toBeNull();
			const resourceMetadataUrl = new URL(`${server.origin}/.well-known/oauth-protected-resource/mcp`);
			await authorization.needs(server.url, { scope: "weather:history", resourceMetadataUrl });
			await authorization.needs(server.url, { scope: "weather:history weather:read", resourceMetadataUrl });
			server.expireTokens();
			expect(await request(server, provider)).toBe(200);
			expect(await authorization.wanted(server.url)).toEqual({
				scope: "weather:read weather:history",
				resourceMetadataUrl,
			});
			expect(await pageOf(authorization, server.url)).toBe("weather:read weather:history");
			expect(server.scopesOf((await provider.token()) ?? "")).toEqual(["weather:read", "weather:history"]);
			expect(await authorization.wanted(server.url)).toBeNull();
		},
	);

	it("are no reason to fail when the disk is full", async () => {
		const reported: string[] = [];
		const log: Log = { ...silentLog, error: (message) => reported.push(message) };
		const { server } = await signedIn(options);
		const { files } = createFailingFiles(createDiskFiles(), {
			at: ({ kind }) => kind === "replace",
			mishap: { kind: "fail", code: "ENOSPC" },
		});
		const authorization = authorizationWith({ files, log });
		await authorization.needs(server.url, { scope: "weather:history" });
		expect(reported).toEqual(["The permissions that an MCP server asks for cannot be stored"]);
	});

	it("are no longer requested once they were discarded, and the sign-in remains", async () => {
		const { server, authorization, provider } = await signedIn(options);
		await authorization.needs(server.url, { scope: "weather:history" });
		await authorization.giveUpWanted(server.url);
		expect(await authorization.wanted(server.url)).toBeNull();
		expect(await request(server, provider)).toBe(200);
		await authorization.needs(server.url, { scope: "weather:history" });
		expect(await authorization.wanted(server.url)).toEqual({ scope: "weather:read weather:history" });
	});

	it("are stored up to a limit", async () => {
		const { server, authorization } = await signedIn(options);
		for (let n = 0; n < 40; n += 1) {
			await authorization.needs(server.url, { scope: `${"x".repeat(100)}${n}` });
		}
		expect((await authorization.wanted(server.url))?.scope?.split(" ")).toHaveLength(20);
		await authorization.needs(server.url, { scope: "y".repeat(3000) });
		expect((await authorization.wanted(server.url))?.scope).not.toContain("y");
	});

	it("are not stored without a sign-in, or when the sign-in includes them", async () => {
		const server = await startMcpOAuthServer(options);
		const authorization = authorizationWith();
		await authorization.needs(server.url, { scope: "weather:history" });
		expect(await authorization.wanted(server.url)).toBeNull();
		await authorization.authorize(server.url, interaction());
		await authorization.needs(server.url, { scope: "weather:read" });
		expect(await authorization.wanted(server.url)).toBeNull();
	});
});

describe("renewal", () => {
	it("precedes a request when the token has expired", async () => {
		const { server, provider } = await signedIn();
		server.expireTokens();
		ahead = 3_580_000;
		const token = await provider.token();
		expect(server.isGood(token ?? "")).toBe(true);
		expect(JSON.parse(tokenFile())).toMatchObject({ access_token: token, scope: "weather:read", resource: server.url });
		expect(outcomes(server)).toEqual([signedInOnce, "refresh_token"]);
	});

	it("follows a rejection when the expiry of the token is unknown", async () => {
		const { server, provider } = await signedIn({ lifetime: null });
		ahead = 1_000_000_000;
		server.expireTokens();
		expect(await request(server, provider)).toBe(200);
		server.expireTokens();
		expect(await request(server, provider)).toBe(200);
		expect(outcomes(server)).toEqual([signedInOnce, "refresh_token", "refresh_token"]);
	});

	it("happens once for all connections and processes that need it", async () => {
		const { server, provider } = await signedIn({ tokenDelay: 50 });
		const others = await Promise.all([providerOf(server), providerOf(server)]);
		server.expireTokens();
		const all = [provider, provider, ...others];
		expect(await Promise.all(all.map((each) => request(server, each)))).toEqual([200, 200, 200, 200]);
		expect(outcomes(server)).toEqual([signedInOnce, "refresh_token"]);
	});

	it("can be waited for until its tokens are stored", async () => {
		const { server, authorization } = await signedIn({ tokenDelay: 50 });
		server.expireTokens();
		await authorization.settled();
		const before = tokenFile();
		const provider = await authorization.provider(server.url);
		const running = provider === null ? null : request(server, provider);
		await expect.poll(() => server.grants.length).toBe(2);
		await authorization.settled();
		expect(tokenFile()).not.toBe(before);
		expect(await running).toBe(200);
	});

	it("of a sign-in by the Rust agent discovers the authorization server first, and is stored as our own", async () => {
		const { server } = await signedIn();
		const { access_token, refresh_token, client } = JSON.parse(tokenFile());
		rmSync(path.join(shareDir, "mcp-oauth"), { recursive: true });
		mkdirSync(path.join(shareDir, "credentials"));
		const foreignFile = path.join(shareDir, "credentials", "mcp_auth.json");
		const signIn = {
			client_id: client.client_id,
			token_response: { access_token, token_type: "bearer", refresh_token },
			granted_scopes: ["weather:read"],
		};
		const content = JSON.stringify({ servers: { [server.url]: signIn } });
		writeFileSync(foreignFile, content);

		const provider = await providerOf(server);
		expect(await request(server, provider)).toBe(200);
		server.expireTokens();
		expect(await request(server, provider)).toBe(200);
		expect(outcomes(server)).toEqual([signedInOnce, "refresh_token"]);
		expect(JSON.parse(tokenFile())).toMatchObject({
			scope: "weather:read",
			resource: server.url,
			authorization_server: { issuer: server.origin, token_endpoint: `${server.origin}/token`, auth_methods: ["none"] },
			client: { client_id: client.client_id },
		});
		server.expireTokens();
		expect(await request(server, provider)).toBe(200);
		expect(readFileSync(foreignFile, "utf8")).toBe(content);
	});

	it("of such a sign-in preserves a missing permission", async () => {
		const { server, authorization } = await signedIn();
		const { access_token, client } = JSON.parse(tokenFile());
		rmSync(path.join(shareDir, "mcp-oauth"), { recursive: true });
		mkdirSync(path.join(shareDir, "credentials"));
		const signIn = { client_id: client.client_id, token_response: { access_token, token_type: "bearer" } };
		const content = JSON.stringify({ servers: { [server.url]: signIn } });
		writeFileSync(path.join(shareDir, "credentials", "mcp_auth.json"), content);
		await authorization.needs(server.url, { scope: "weather:history" });
		expect(await authorization.wanted(server.url)).toEqual({ scope: "weather:history" });
		await authorization.giveUpWanted(server.url);
		expect(await request(server, await providerOf(server))).toBe(200);
		await authorization.forget(server.url);
		expect(await authorization.provider(server.url)).toBeNull();
	});

	it("that is refused requires a new sign-in, and deletes nothing", async () => {
		const { server, provider } = await signedIn();
		const before = tokenFile();
		server.revokeAll();
		const attempt = request(server, provider);
		await expect(attempt).rejects.toThrow(UnauthorizedError);
		await expect(attempt).rejects.toThrow("the sign-in is no longer valid: It is no good.");
		expect(tokenFile()).toBe(before);
	});

	it("that fails transiently requires no new sign-in", async () => {
		const { server, provider } = await signedIn();
		const before = tokenFile();
		server.expireTokens();
		server.conduct.tokenStatus = 503;
		const attempt = request(server, provider);
		await expect(attempt).rejects.not.toBeInstanceOf(UnauthorizedError);
		const answered = `${server.origin}/token answered with HTTP 503, but not as an authorization server does`;
		await expect(attempt).rejects.toThrow(`the tokens could not be renewed: ${answered}`);
		expect(tokenFile()).toBe(before);
		server.conduct.tokenStatus = null;
		expect(await request(server, provider)).toBe(200);
	});

	it("that failed before a request is not tried again when the token is rejected", async () => {
		const { server, provider } = await signedIn();
		server.expireTokens();
		ahead = 3_580_000;
		server.conduct.tokenStatus = 503;
		const attempts = server.grants.length;
		await expect(request(server, provider)).rejects.toThrow("the tokens could not be renewed");
		expect(server.grants.length).toBe(attempts + 1);
		server.conduct.tokenStatus = null;
		expect(await request(server, provider)).toBe(200);
	});

	it("is not waited for while the token may still be valid", async () => {
		const { server, provider } = await signedIn();
		ahead = 3_580_000;
		server.conduct.tokenStatus = 503;
		expect(await request(server, provider)).toBe(200);
	});

	it("is used although the tokens cannot be persisted, and reports that", async () => {
		const reported: string[] = [];
		const log: Log = { ...silentLog, error: (message) => reported.push(message) };
		const { server } = await signedIn();
		const full: Files = createFailingFiles(createDiskFiles(), {
			at: ({ kind }) => kind === "replace",
			mishap: { kind: "fail", code: "ENOSPC" },
		}).files;
		const provider = await providerOf(server, { files: full, log });
		server.expireTokens();
		expect(await request(server, provider)).toBe(200);
		server.expireTokens();
		expect(await request(server, provider)).toBe(200);
		expect(reported).toEqual(Array(2).fill("Renewed tokens of an MCP server cannot be stored"));
	});
});
