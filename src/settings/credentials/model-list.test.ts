import { describe, expect, it } from "vitest";
import { SignInError } from "./device-flow.ts";
import type { PlatformPort } from "./exchange.ts";
import { listModels } from "./model-list.ts";

const platform = {
	oauthHost: "https://auth.example.com",
	clientId: "p",
	baseUrl: "https://api.example.com/coding/v1/?x=1",
};
const never = new AbortController().signal;

function list(answer: () => Promise<Response>, seen: (url: string, init: RequestInit | undefined) => void = () => {}) {
	const port: PlatformPort = {
		clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
		version: "1.2.3",
		fetch: (url, init) => {
			seen(String(url), init);
			return answer();
		},
	};
	return listModels(port, platform, "access-token-1", never);
}

const listing = (data: unknown) => async () => new Response(JSON.stringify({ data }));

describe("listModels", () => {
	it("returns the models that the platform lists", async () => {
		const models = await list(
			listing([
				{ id: "k2", display_name: "K2", context_length: 262_144, supports_reasoning: true, supports_image_in: true },
				{ id: "k1", display_name: "", context_length: "big", supports_video_in: true },
				{ id: "k2", context_length: 1 },
				{ id: "" },
				"k3",
			]),
			(url, init) => {
				expect(url).toBe("https://api.example.com/coding/v1/models?x=1");
				expect(new Headers(init?.headers).get("authorization")).toBe("Bearer access-token-1");
				expect(init?.redirect).toBe("manual");
			},
		);
		expect(models).toEqual([
			{ id: "k2", displayName: "K2", maxContextSize: 262_144, capabilities: ["image_in", "thinking"] },
			{ id: "k1", displayName: null, maxContextSize: 100_000, capabilities: ["video_in"] },
		]);
	});

	it.each([
		["no models", listing([]), "api.example.com lists no models for this account."],
		["something else than a list", listing("k2"), "api.example.com lists no models for this account."],
		["invalid JSON", async () => new Response("<html>"), "api.example.com lists no models for this account."],
		[
			"a refusal",
			async () => new Response('{"error":{"message":"bad access-token-1"}}', { status: 403 }),
			"The list of models cannot be fetched: api.example.com answered with HTTP 403 (bad [redacted]). The platform may admit clients by name and answer all others with 403; agentwire gives its own name and does not pose as another client (docs/guides/login.md).",
		],
		[
			"nothing",
			() => Promise.reject(new TypeError("fetch failed", { cause: new Error("getaddrinfo ENOTFOUND") })),
			"The list of models cannot be fetched: api.example.com: getaddrinfo ENOTFOUND.",
		],
	])("reports %s", async (_, answer, message) => {
		await expect(list(answer)).rejects.toThrow(new SignInError("platform", message));
	});
});
