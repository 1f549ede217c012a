import { describe, expect, it, onTestFinished } from "vitest";
import { type PlatformServer, startPlatformServer } from "../../../test/support/host/platform-server.ts";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import { type DeviceCode, requestDeviceCode, SignInError, waitForTokens } from "./device-flow.ts";
import { type PlatformPort, requestTimeout } from "./exchange.ts";
import { defaultOauthHost, type Platform, toPlatform } from "./platform.ts";

const start = 1_700_000_000_000;
const never = new AbortController().signal;

interface Subject {
	readonly server: PlatformServer;
	readonly platform: Platform;
	readonly port: PlatformPort;
	/** Milliseconds waited for between the requests. */
	waited(): number;
}

async function createSubject(): Promise<Subject> {
	const server = await startPlatformServer();
	onTestFinished(() => server.close());
	let waited = 0;
	let now = start;
	// Waits pass at once; the deadlines of requests never do.
	const clock = {
		now: () => now,
		monotonic: () => now,
		after(milliseconds: number, callback: () => void) {
			if (milliseconds === requestTimeout) return () => {};
			waited += milliseconds;
			now += milliseconds;
			return createSteppingClock(now).after(0, callback);
		},
	};
	return {
		server,
		platform: { oauthHost: server.url, clientId: "program-7", baseUrl: `${server.url}/v1` },
		port: { fetch: globalThis.fetch, clock, version: "1.2.3" },
		waited: () => waited,
	};
}

const device: DeviceCode = {
	secret: "device-secret-1",
	userCode: "ABCD-1234",
	verificationUrl: "https://example.com",
	expiresIn: 60,
	interval: 5,
};

async function failure(work: Promise<unknown>): Promise<string> {
	const thrown = await work.then(
		() => null,
		(error: unknown) => error,
	);
	if (thrown instanceof SignInError) return thrown.message;
	throw new Error(`expected a SignInError, got ${String(thrown)}`);
}

describe("the platform", () => {
	const none = { oauthHost: "", oauthClientId: "" };

	it.each([
		["nothing", {}, none, [defaultOauthHost, "agentwire", "https://api.kimi.com/coding/v1"]],
		[
			"empty variables",
			{ KIMI_CODE_OAUTH_HOST: "", KIMI_OAUTH_HOST: "" },
			none,
			[defaultOauthHost, "agentwire", "https://api.kimi.com/coding/v1"],
		],
		[
			"settings",
			{},
			{ oauthHost: "https://s", oauthClientId: "p" },
			["https://s", "p", "https://api.kimi.com/coding/v1"],
		],
		[
			"variables",
			{ KIMI_OAUTH_HOST: "https://v", KIMI_CODE_BASE_URL: "https://b" },
			{ oauthHost: "https://s", oauthClientId: "" },
			["https://v", "agentwire", "https://b"],
		],
		[
			"both variables",
			{ KIMI_OAUTH_HOST: "https://v", KIMI_CODE_OAUTH_HOST: "https://c" },
			none,
			["https://c", "agentwire", "https://api.kimi.com/coding/v1"],
		],
	])("is found with %s", (_, environment, settings, [oauthHost, clientId, baseUrl]) => {
		expect(toPlatform(environment, settings)).toEqual({ oauthHost, clientId, baseUrl });
	});
});

describe("requestDeviceCode", () => {
	it("requests a code in the name of the program", async () => {
		const { server, platform, port } = await createSubject();
		expect(await requestDeviceCode(port, platform, never)).toEqual({
			secret: "device-secret-1",
			userCode: "ABCD-1234",
			verificationUrl: `${server.url}/device?code=ABCD-1234`,
			expiresIn: 600,
			interval: 0.02,
		});
		expect(server.requests).toEqual([
			{
				method: "POST",
				path: "/api/oauth/device_authorization",
				form: { client_id: "program-7" },
				authorization: null,
			},
		]);
	});

	it("accepts the minimal answer of the standard", async () => {
		const { server, platform, port } = await createSubject();
		server.device = { verification_uri_complete: undefined, interval: undefined, expires_in: "soon" };
		expect(await requestDeviceCode(port, { ...platform, oauthHost: `${server.url}/` }, never)).toMatchObject({
			verificationUrl: `${server.url}/device`,
			expiresIn: 900,
			interval: 5,
		});
	});

	it.each([
		["without a code", { user_code: undefined }],
		["with terminal control characters in the code", { user_code: "\u001b[2J" }],
		["without an address", { verification_uri: undefined, verification_uri_complete: undefined }],
		["with an address that is no web address", { verification_uri: "file:///etc", verification_uri_complete: "x" }],
	])("refuses an answer %s", async (_, more) => {
		const { server, platform, port } = await createSubject();
		server.device = more;
		expect(await failure(requestDeviceCode(port, platform, never))).toMatch(/did not send a code to sign in with\.$/);
	});

	it.each([
		["an invalid address", "auth.example.com", "Cannot sign in: the sign-in server is not an http(s) URL"],
		[
			"an address with a password",
			"https://me:secret@example.com",
			"Cannot sign in: the sign-in server is not an http(s) URL",
		],
		["a port where nobody listens", "http://127.0.0.1:9", "The sign-in server cannot be reached: 127.0.0.1:9: "],
	])("reports the fault of %s", async (_, oauthHost, message) => {
		const { platform, port } = await createSubject();
		const reported = await failure(requestDeviceCode(port, { ...platform, oauthHost }, never));
		expect(reported).toContain(message);
		expect(reported).not.toContain("secret");
	});

	it.each([
		[
			400,
			{ error: "invalid_client", error_description: "no such client" },
			"does not know this program (no such client). Set oauth_client_id",
		],
		[
			403,
			{},
			/refuses: 127\.0\.0\.1:\d+ answered with HTTP 403\. The platform may admit clients by name .*\(docs\/guides\/login.md\)\.$/,
		],
		[403, { message: "Not for you." }, /refuses: Not for you\. The platform may admit /],
		[503, {}, /refuses: 127\.0\.0\.1:\d+ answered with HTTP 503\.$/],
		[302, {}, /answered with HTTP 302\.$/],
	])("reports an answer with HTTP %i", async (status, body, message) => {
		const { platform, port } = await createSubject();
		const fetch = async () => new Response(JSON.stringify(body), { status });
		const reported = await failure(requestDeviceCode({ ...port, fetch }, platform, never));
		if (typeof message === "string") expect(reported).toContain(message);
		else expect(reported).toMatch(message);
	});
});

describe("waitForTokens", () => {
	it("polls in the interval until the person has confirmed", async () => {
		const { server, platform, port, waited } = await createSubject();
		server.beforeGrant.push("authorization_pending", "authorization_pending");
		expect(await waitForTokens(device, port, platform, never)).toEqual({
			accessToken: "access-token-1",
			refreshToken: "refresh-token-1",
			expiresAt: start / 1000 + 15 + 3600,
			expiresIn: 3600,
			scope: "all",
			tokenType: "Bearer",
		});
		expect(waited()).toBe(15_000);
		expect(server.requests.at(-1)).toEqual({
			method: "POST",
			path: "/api/oauth/token",
			form: {
				client_id: "program-7",
				grant_type: "urn:ietf:params:oauth:grant-type:device_code",
				device_code: "device-secret-1",
			},
			authorization: null,
		});
	});

	it("polls more slowly when the platform requests it", async () => {
		const { server, platform, port, waited } = await createSubject();
		server.beforeGrant.push("slow_down", "authorization_pending", "slow_down");
		await waitForTokens({ ...device, interval: 1 }, port, platform, never);
		expect(waited()).toBe(1000 + 6000 + 6000 + 11_000);
	});

	it("continues after transient errors", async () => {
		const { server, platform, port } = await createSubject();
		server.beforeGrant.push(500, 429);
		let isFirst = true;
		const fetch: typeof globalThis.fetch = async (...parameters) => {
			if (!isFirst) return await globalThis.fetch(...parameters);
			isFirst = false;
			throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
		};
		expect(await waitForTokens(device, { ...port, fetch }, platform, never)).toMatchObject({
			accessToken: "access-token-1",
		});
		expect(server.requests).toHaveLength(3);
	});

	it.each([
		["access_denied", "The sign-in was refused in the browser."],
		["expired_token", "Nobody confirmed the code in time. Sign in again for a new one."],
		["invalid_grant", "The sign-in server refuses: invalid_grant."],
		["unauthorized_client", "The sign-in server does not know this program (unauthorized_client). Set oauth_client_id"],
	])("ends with %s", async (error, message) => {
		const { server, platform, port } = await createSubject();
		server.beforeGrant.push("authorization_pending", error);
		expect(await failure(waitForTokens(device, port, platform, never))).toContain(message);
		expect(server.requests).toHaveLength(2);
	});

	it("ends with HTTP 403, and says that the platform may admit clients by name", async () => {
		const { server, platform, port } = await createSubject();
		server.beforeGrant.push(403);
		expect(await failure(waitForTokens(device, port, platform, never))).toMatch(
			/^The sign-in server refuses: .* HTTP 403\. The platform may admit clients by name .*\.$/,
		);
	});

	it("ends when the code has expired, and reports the last error", async () => {
		const { server, platform, port, waited } = await createSubject();
		server.beforeGrant.push(...Array.from({ length: 20 }, () => 502));
		expect(await failure(waitForTokens(device, port, platform, never))).toMatch(
			/^Nobody confirmed the code in time\. The last response of the sign-in server was: .* HTTP 502\. Sign in again/,
		);
		expect(waited()).toBe(60_000);
	});

	it("ends when the code has expired, also when the server wants to be asked less often", async () => {
		const { server, platform, port, waited } = await createSubject();
		expect(await failure(waitForTokens({ ...device, interval: 100_000 }, port, platform, never))).toBe(
			"Nobody confirmed the code in time. Sign in again for a new one.",
		);
		expect([waited(), server.requests]).toEqual([60_000, []]);
	});

	it("ends when it is aborted, between two requests and within one", async () => {
		const { server, platform, port } = await createSubject();
		expect(await failure(waitForTokens(device, port, platform, AbortSignal.abort()))).toBe("The sign-in was stopped.");
		expect(server.requests).toEqual([]);
		const stopping = new AbortController();
		const fetch: typeof globalThis.fetch = (_url, init) =>
			new Promise((_resolve, reject) => {
				init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
				stopping.abort();
			});
		expect(await failure(waitForTokens(device, { ...port, fetch }, platform, stopping.signal))).toBe(
			"The sign-in was stopped.",
		);
	});

	it("refuses a token of another type than Bearer", async () => {
		const { server, platform, port } = await createSubject();
		server.grant = { token_type: "mac" };
		expect(await failure(waitForTokens(device, port, platform, never))).toBe(
			'The sign-in server sent no usable token: the token is of the type "mac", and only Bearer tokens can be used.',
		);
	});

	it("retries after an answer without tokens", async () => {
		const { server, platform, port } = await createSubject();
		server.grant = { access_token: "not a token\n" };
		expect(await failure(waitForTokens({ ...device, expiresIn: 10 }, port, platform, never))).toContain(
			"sent no access token",
		);
	});
});
