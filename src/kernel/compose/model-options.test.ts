// What front ends see of models: the settings as variables of the environment change them.
import { expect, it } from "vitest";
import { createHost } from "../../../test/support/sessions/session-host.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { selectModel } from "../../settings/config/model-selection.ts";
import type { ProviderType } from "../../settings/config/schema.ts";
import { listModelOptions } from "./model-options.ts";
import { toChoice } from "./models.ts";

const models = {
	named: { provider: "p", model: "k2", display_name: "K two", max_context_size: 1000, capabilities: ["thinking"] },
	plain: { provider: "p", model: "k1", max_context_size: 2000, capabilities: ["video_in"] },
};

/** The settings, with a provider of this type. */
async function configure(type: ProviderType, baseUrl = "https://api.example.org"): Promise<Configuration> {
	const { configuration } = (await createHost({}, { models: { m: { ...models.plain }, ...models } })).parts;
	const { p } = configuration.providers;
	if (p === undefined) throw new Error("there is no provider");
	return { ...configuration, providers: { p: { ...p, type, baseUrl } } };
}

it("names a model as the settings do, unless a variable says that it is another one", async () => {
	const settings = await configure("kimi");
	const named = (environment: Record<string, string>) =>
		listModelOptions(settings, environment).map(({ alias, name, maxContextSize }) => [alias, name, maxContextSize]);
	expect(named({})).toEqual([
		["m", "k1", 2000],
		["named", "K two", 1000],
		["plain", "k1", 2000],
	]);
	expect(named({ KIMI_MODEL_NAME: "k3", KIMI_MODEL_MAX_CONTEXT_SIZE: "7" })[1]).toEqual(["named", "k3", 7]);
});

it("says what a model accepts, and whether it thinks", async () => {
	const [, named, plain] = listModelOptions(await configure("vertexai"), {});
	expect([named?.thinking, plain?.thinking]).toEqual(["optional", "never"]);
	expect([named?.accepts, plain?.accepts]).toEqual([
		{ image: false, audio: true, video: false },
		{ image: false, audio: true, video: true },
	]);
	for (const type of ["kimi", "gemini"] as const) {
		expect(listModelOptions(await configure(type), {})[0]?.accepts.audio).toBe(true);
	}
});

it.each(["openai_responses", "anthropic"] as const)(
	"says that %s takes no audio and video, whatever the model",
	async (type) => {
		expect(listModelOptions(await configure(type), {})[2]?.accepts).toEqual({
			image: false,
			audio: false,
			video: false,
		});
	},
);

it("leaves out a model whose provider cannot be reached", async () => {
	expect(listModelOptions(await configure("anthropic", ""), {})).toEqual([]);
});

it("tells the choice, with no alias for a model that the settings do not list", async () => {
	const settings = await configure("kimi");
	const choose = (alias: string, environment: Record<string, string> = {}) =>
		toChoice(selectModel({ configuration: settings, alias, thinking: true, environment }), settings);
	expect(choose("named")).toEqual({ alias: "named", name: "K two", provider: "p", thinking: true });
	expect(choose("plain")).toEqual({ alias: "plain", name: "k1", provider: "p", thinking: false });
	expect(choose("other")).toBeNull();
	const variables = { KIMI_BASE_URL: "https://api.example.org", KIMI_MODEL_NAME: "k9" };
	expect(choose("other", variables)).toEqual({ alias: null, name: "k9", provider: "", thinking: false });
});
