import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { plainNetwork } from "../../../../test/support/host/network.ts";
import { createManualClock, plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import { aborted } from "../../../base/abort.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import { RequestFailure } from "../http/request-failure.ts";
import { standardTimeouts } from "../model-settings.ts";
import { createAccessTokens } from "./access-token.ts";

const place = {
	environment: { GOOGLE_APPLICATION_CREDENTIALS: "/keys.json" },
	home: "/home/me",
	network: plainNetwork,
	timeouts: standardTimeouts,
	clock: plainModelSettings.clock,
};
const never = new AbortController().signal;

/** Credentials that trade a token in the file `subject` for one of the service. */
function foreignCredentials(tokenUrl: string) {
	const subject = path.join(mkdtempSync(path.join(tmpdir(), "token-")), "subject");
	writeFileSync(subject, "subject-token");
	return {
		type: "external_account",
		audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
		subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
		token_url: tokenUrl,
		credential_source: { file: subject },
	};
}

/** Tokens of such credentials, over this network. */
function foreignTokens(fetch: Fetch, changes: Partial<Parameters<typeof createAccessTokens>[0]> = {}) {
	const credentials = foreignCredentials("https://sts.example/token");
	const readFile = async () => Buffer.from(JSON.stringify(credentials));
	return createAccessTokens({ ...place, network: { ...plainNetwork, fetch }, readFile, ...changes });
}

const granted = (token: string) => Response.json({ access_token: token, token_type: "Bearer", expires_in: 3600 });

/** Trades one token for another, as the service for foreign credentials does. */
async function startTokenService() {
	const asked: string[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const piece of request) body += String(piece);
		asked.push(body);
		response.writeHead(200, { "content-type": "application/json" });
		response.end(JSON.stringify({ access_token: `token-${asked.length}`, token_type: "Bearer", expires_in: 3600 }));
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => void server.close());
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return { url: `http://127.0.0.1:${address.port}/token`, asked };
}

describe("tokens for Vertex AI", () => {
	it("are requested with the named credentials, once for their lifetime", async () => {
		const { url, asked } = await startTokenService();
		const credentials = foreignCredentials(url);
		const tokens = createAccessTokens({
			...place,
			readFile: async (file) => (file === "/keys.json" ? Buffer.from(JSON.stringify(credentials)) : null),
		});
		expect([await tokens.get(never), await tokens.get(never)]).toEqual(["token-1", "token-1"]);
		expect(asked).toHaveLength(1);
		expect(new URLSearchParams(asked[0]).get("subject_token")).toBe("subject-token");
		expect(new URLSearchParams(asked[0]).get("scope")).toBe("https://www.googleapis.com/auth/cloud-platform");
	});

	it("of another account are requested through our network only, from the first request on", async () => {
		const asked: string[] = [];
		const fetch = async (input: unknown) => {
			asked.push(String(input));
			const expireTime = new Date(Date.now() + 3_600_000).toISOString();
			return Response.json({ access_token: "first", expires_in: 3600, accessToken: "second", expireTime });
		};
		const credentials = {
			type: "impersonated_service_account",
			service_account_impersonation_url:
				"https://iamcredentials.googleapis.com/v1/x/serviceAccounts/me:generateAccessToken",
			source_credentials: { type: "authorized_user", client_id: "a", client_secret: "b", refresh_token: "c" },
		};
		const tokens = createAccessTokens({
			...place,
			network: { ...plainNetwork, fetch },
			readFile: async () => Buffer.from(JSON.stringify(credentials)),
		});
		expect(await tokens.get(never)).toBe("second");
		expect(asked.map((url) => new URL(url).host)).toEqual(["oauth2.googleapis.com", "iamcredentials.googleapis.com"]);
	});

	it("of foreign credentials are requested through our network only, and anew after a refusal", async () => {
		const asked: string[] = [];
		const tokens = foreignTokens(async (input, init) => {
			asked.push(`${String(input)} ${init?.redirect}`);
			return granted(`token-${asked.length}`);
		});
		expect([await tokens.get(never), await tokens.get(never)]).toEqual(["token-1", "token-1"]);
		tokens.discard();
		expect(await tokens.get(never)).toBe("token-2");
		expect(asked).toEqual(["https://sts.example/token manual", "https://sts.example/token manual"]);
	});

	it("are requested once for all who wait; the last who leaves ends the request", async () => {
		const ended: boolean[] = [];
		const asked: ((response: Response) => void)[] = [];
		const arrivals: (() => void)[] = [];
		const nextArrival = () => new Promise<void>((resolve) => arrivals.push(resolve));
		const tokens = foreignTokens((_input, init) => {
			const index = ended.push(false) - 1;
			const { signal } = init ?? {};
			if (signal === undefined || signal === null) throw new Error("no signal");
			void aborted(signal).then(() => (ended[index] = true));
			arrivals.shift()?.();
			return new Promise((resolve, reject) => {
				asked.push(resolve);
				void aborted(signal).then(() => reject(signal.reason));
			});
		});
		const leave = () => new AbortController();
		const controllers = [leave(), leave(), leave()];
		const first = nextArrival();
		const waiting = controllers.map(({ signal }) => tokens.get(signal).catch(() => "left"));
		await first;
		controllers[0]?.abort();
		expect([await waiting[0], ended]).toEqual(["left", [false]]);
		controllers[1]?.abort();
		controllers[2]?.abort();
		expect(await Promise.all(waiting)).toEqual(["left", "left", "left"]);
		expect(ended).toEqual([true]);
		const second = nextArrival();
		const again = tokens.get(never);
		await second;
		asked.at(-1)?.(granted("token-2"));
		expect(await again).toBe("token-2");
	});

	it("fail as what may pass when the service does not answer, cannot be reached or has a fault", async () => {
		const clock = createManualClock();
		const silent = foreignTokens(() => new Promise(() => {}), { clock }).get(never);
		await clock.expireNext(standardTimeouts.response);
		await expect(silent).rejects.toMatchObject({ failure: { kind: "timeout" } });
		const refused = Object.assign(new Error("connect ECONNREFUSED 1.2.3.4:443"), { code: "ECONNREFUSED" });
		const unreachable = foreignTokens(() => Promise.reject(new TypeError("fetch failed", { cause: refused })));
		await expect(unreachable.get(never)).rejects.toMatchObject({
			failure: { kind: "connection", message: expect.stringContaining("ECONNREFUSED") },
		});
		const denied = foreignTokens(async () => Response.json({ error: "invalid_grant" }, { status: 400 }));
		await expect(denied.get(never)).rejects.toMatchObject({
			failure: { kind: "provider", message: expect.stringContaining("invalid_grant") },
		});
	});

	it.each([
		["a missing file", null, "/keys.json"],
		["invalid JSON", "oops", "JSON"],
		["another JSON value", "[]", "/keys.json contains no credentials"],
		["an unknown kind", '{"type":"service_account"}', "Could not get a token for Vertex AI"],
	])("report the fault for %s, and read the file again next time", async (_name, text, message) => {
		let reads = 0;
		const tokens = createAccessTokens({
			...place,
			readFile: async () => {
				reads++;
				return text === null ? null : Buffer.from(text);
			},
		});
		for (const count of [1, 2]) {
			const failed = await tokens.get(never).catch((thrown: unknown) => thrown);
			expect(failed).toBeInstanceOf(RequestFailure);
			expect(String(failed)).toContain(message);
			expect(reads).toBe(count);
		}
	});
});
