import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { silentLog } from "../../base/log.ts";
import { readConfiguration } from "./configuration-reader.ts";
import { findModel, listModel } from "./model-lookup.ts";
import { selectModel } from "./model-selection.ts";

const settings = `
default_model = "second"
[models.first]
provider = "maker"
model = "claude-sonnet-4-5"
max_context_size = 1000
[models.second]
provider = "house"
model = "kimi-k2"
max_context_size = 1000
[models.third]
provider = "house"
model = "claude-sonnet-4-5"
max_context_size = 1000
[providers.maker]
type = "anthropic"
base_url = "http://127.0.0.1:1"
api_key = "k"
[providers.house]
type = "kimi"
base_url = "http://127.0.0.1:2"
api_key = "k"
[providers.open]
type = "openai_legacy"
base_url = "http://127.0.0.1:3"
api_key = "k"
`;

async function configuration(text = settings) {
	return (await readConfiguration({ kind: "text", text }, createMemoryFiles(), silentLog)).configuration;
}

describe("the model that a client names", () => {
	it.each([
		[null, null, { kind: "listed", alias: null }],
		["first", null, { kind: "listed", alias: "first" }],
		["kimi-k2", null, { kind: "listed", alias: "second" }],
		["claude-sonnet-4-5", null, { kind: "listed", alias: "first" }],
		["claude-sonnet-4-5", "house", { kind: "listed", alias: "third" }],
		["claude-sonnet-4-5", "anthropic", { kind: "listed", alias: "first" }],
		[null, "anthropic", { kind: "listed", alias: "first" }],
		[null, "house", { kind: "listed", alias: "second" }],
		["claude-opus-4-6", null, { kind: "unlisted", model: { provider: "maker", name: "claude-opus-4-6" } }],
		["GPT-5.2", null, { kind: "unlisted", model: { provider: "open", name: "GPT-5.2" } }],
		["anything", "open", { kind: "unlisted", model: { provider: "open", name: "anything" } }],
		["anything", "openai", { kind: "unlisted", model: { provider: "open", name: "anything" } }],
		["anything", null, { kind: "none", reason: "Cannot infer provider from model 'anything'" }],
		["gemini-3", null, { kind: "none", reason: "API key not set for provider 'gemini'" }],
		["kimi-k2", "anthropic", { kind: "unlisted", model: { provider: "maker", name: "kimi-k2" } }],
		["x", "nobody", { kind: "none", reason: "API key not set for provider 'nobody'" }],
	])("is resolved for model %s of provider %s", async (model, provider, found) => {
		expect(findModel(await configuration(), { model, provider })).toEqual(found);
	});

	it("says what to do about a provider without models", async () => {
		const found = findModel(await configuration(), { model: null, provider: "open" });
		expect(found).toEqual({ kind: "none", reason: expect.stringContaining("add one under [models]") });
	});

	it("can be selected once it is listed", async () => {
		const listed = listModel(await configuration(), { provider: "open", name: "gpt-5.2" });
		const selection = selectModel({ configuration: listed, alias: "gpt-5.2", thinking: null, environment: {} });
		expect(selection).toMatchObject({ kind: "model", model: { name: "gpt-5.2" }, provider: { name: "open" } });
	});
});
