import { describe, expect, it } from "vitest";
import { type AddedModel, withAddedModel } from "./added-model.ts";
import { parseToml } from "./syntax.ts";

const added: AddedModel = {
	provider: "anthropic",
	type: "anthropic",
	baseUrl: "https://api.anthropic.com",
	apiKey: 'a"key',
	alias: "anthropic/large",
	model: "large",
	maxContextSize: 200_000,
	capabilities: ["thinking"],
};

async function read(text: string): Promise<unknown> {
	const parsed = await parseToml(text);
	return parsed.ok ? parsed.value : parsed.reason;
}

describe("withAddedModel", () => {
	it("writes provider, model and default into an empty file", async () => {
		expect(await read(await withAddedModel("", "config.toml", added))).toEqual({
			default_model: "anthropic/large",
			providers: { anthropic: { type: "anthropic", base_url: "https://api.anthropic.com", api_key: 'a"key' } },
			models: {
				"anthropic/large": {
					provider: "anthropic",
					model: "large",
					max_context_size: 200_000,
					capabilities: ["thinking"],
				},
			},
		});
	});

	it("leaves the default, the comments and other keys as they are, and replaces the key", async () => {
		const text =
			'# mine\ndefault_model = "own"\n\n[providers.anthropic] # here\ntype = "anthropic"\napi_key = "old"\ncustom_headers = { a = "b" }\n';
		const edited = await withAddedModel(text, "config.toml", added);
		expect(edited).toContain("# mine");
		expect(edited).not.toContain('"old"');
		expect(await read(edited)).toMatchObject({
			default_model: "own",
			providers: { anthropic: { api_key: 'a"key', custom_headers: { a: "b" } } },
		});
	});

	it("refuses a text that is not TOML, and tables that it cannot edit in their places", async () => {
		await expect(withAddedModel("a =", "config.toml", added)).rejects.toMatchObject({ category: "syntax" });
		const inline = 'providers = { anthropic = { type = "anthropic" } }\n';
		await expect(withAddedModel(inline, "config.toml", added)).rejects.toMatchObject({ category: "uneditable" });
	});
});
