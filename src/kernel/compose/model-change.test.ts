// Which models can be chosen: those of a provider that has an address and a key.
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createHostServices } from "../../../test/support/host/host-services.ts";
import { createHost } from "../../../test/support/sessions/session-host.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { Configuration, ProviderSettings } from "../../settings/config/configuration.ts";
import type { ProviderType } from "../../settings/config/schema.ts";
import { changeModel } from "./model-change.ts";
import type { ModelServices } from "./models.ts";

async function configure(provider: Partial<ProviderSettings>): Promise<Configuration> {
	const { configuration } = (await createHost()).parts;
	const { p } = configuration.providers;
	if (p === undefined) throw new Error("there is no provider");
	return { ...configuration, providers: { p: { ...p, baseUrl: "https://api.example.org", ...provider } } };
}

async function choose(provider: Partial<ProviderSettings>, environment: Record<string, string> = {}, key = "") {
	const services: ModelServices = {
		hostServices: createHostServices({ files: createMemoryFiles(), clock: createFakeClock(), environment }),
		clientName: () => null,
		keys: { source: async () => null, keyOf: async ({ apiKey }) => apiKey || key },
	};
	const place = { wish: { model: null, thinking: null }, settings: await configure(provider), services };
	return (await changeModel({ model: "m", thinking: null }, { ...place, maxAnswerTokens: undefined })).chosen.choice;
}

const chosen = { alias: "m", name: "echo", provider: "p", thinking: false };
const oauth = { storage: "file", key: "oauth/kimi-code" } as const;

describe("a provider", () => {
	it.each<ProviderType>(["kimi", "openai_legacy", "openai_responses", "anthropic", "gemini", "google_genai"])(
		"of type %s needs a key",
		async (type) => {
			await expect(choose({ type })).rejects.toMatchObject({
				code: "model-not-set",
				message: expect.stringContaining('The model\'s provider "p" has no key: set '),
			});
			expect(await choose({ type, apiKey: "k" })).toEqual(chosen);
			expect(await choose({ type, customHeaders: { authorization: "Bearer k" } })).toEqual(chosen);
		},
	);

	it("may have its key in a variable, or from a sign-in", async () => {
		expect(await choose({ type: "kimi" }, { KIMI_API_KEY: "k" })).toEqual(chosen);
		expect(await choose({ type: "kimi", oauth }, {}, "k")).toEqual(chosen);
		await expect(choose({ type: "kimi", oauth })).rejects.toMatchObject({
			code: "model-not-set",
			message: expect.stringContaining("has no key: sign in with"),
		});
	});

	it("needs an address", async () => {
		await expect(choose({ type: "kimi", baseUrl: "", apiKey: "k" })).rejects.toMatchObject({
			code: "model-not-set",
			message: expect.stringContaining("base_url"),
		});
	});

	it("may be one that a variable of the session spoils", async () => {
		const variables = { KIMI_MODEL_MAX_CONTEXT_SIZE: "many" };
		await expect(choose({ type: "kimi", apiKey: "k" }, variables)).rejects.toMatchObject({ code: "invalid-input" });
	});
});
