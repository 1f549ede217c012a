import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { plainNetwork } from "../../../test/support/host/network.ts";
import { RequestFailure } from "../http/request-failure.ts";
import { createAccessTokens } from "./access-token.ts";

const place = {
	environment: { GOOGLE_APPLICATION_CREDENTIALS: "/keys.json" },
	home: "/home/me",
	network: plainNetwork,
};

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
		const subject = path.join(mkdtempSync(path.join(tmpdir(), "token-")), "subject");
		writeFileSync(subject, "subject-token");
		const credentials = {
			type: "external_account",
			audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
			subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
			token_url: url,
			credential_source: { file: subject },
		};
		const getToken = createAccessTokens({
			...place,
			readFile: async (file) => (file === "/keys.json" ? Buffer.from(JSON.stringify(credentials)) : null),
		});
		expect([await getToken(), await getToken()]).toEqual(["token-1", "token-1"]);
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
		const getToken = createAccessTokens({
			...place,
			network: { ...plainNetwork, fetch },
			readFile: async () => Buffer.from(JSON.stringify(credentials)),
		});
		expect(await getToken()).toBe("second");
		expect(asked.map((url) => new URL(url).host)).toEqual(["oauth2.googleapis.com", "iamcredentials.googleapis.com"]);
	});

	it.each([
		["a missing file", null, "/keys.json"],
		["invalid JSON", "oops", "JSON"],
		["another JSON value", "[]", "/keys.json holds no credentials"],
		["an unknown kind", '{"type":"service_account"}', "No token for Vertex AI could be had"],
	])("report the fault for %s, and read the file again next time", async (_name, text, message) => {
		let reads = 0;
		const getToken = createAccessTokens({
			...place,
			readFile: async () => {
				reads++;
				return text === null ? null : Buffer.from(text);
			},
		});
		for (const count of [1, 2]) {
			const failed = await getToken().catch((thrown: unknown) => thrown);
			expect(failed).toBeInstanceOf(RequestFailure);
			expect(String(failed)).toContain(message);
			expect(reads).toBe(count);
		}
	});
});
