import { describe, expect, it } from "vitest";
import { withKeyNote, withModelNote } from "./key-note.ts";
import { createFailure } from "./model.ts";

const refused = createFailure("status", "Invalid key", 401);
const keyHolder = { provider: "mine", setting: "providers.mine.api_key" };

describe("a refusal of the key", () => {
	it.each([
		["key", keyHolder, 'Invalid key. The key for the provider "mine" comes from providers.mine.api_key.'],
		["", keyHolder, 'Invalid key. There is no key for the provider "mine": set providers.mine.api_key.'],
		[
			"key",
			{ provider: "", setting: "KIMI_API_KEY" },
			"Invalid key. The key for the provider comes from KIMI_API_KEY.",
		],
		["key", null, "Invalid key"],
	])("with the key %j of %j names the source of the key", (apiKey, holder, message) => {
		expect(withKeyNote(refused, { apiKey, keyHolder: holder, providerType: "openai_legacy" })).toEqual({
			...refused,
			message,
		});
	});

	it.each([
		[keyHolder, 'No. The key for the provider "mine" comes from providers.mine.api_key. The platform may admit '],
		[null, "No. The platform may admit "],
	])("with 403 of Kimi's platform says that it may admit clients by name, for %j", (holder, start) => {
		const settings = { apiKey: "key", keyHolder: holder, providerType: "kimi" } as const;
		const { message } = withKeyNote(createFailure("status", "No.", 403), settings);
		expect(message.startsWith(start)).toBe(true);
		expect(message).toMatch(/clients by name.*403.*does not pose as another client \(docs\/guides\/login.md\)\.$/);
		expect(withKeyNote(refused, settings).message).not.toContain("admit");
	});

	it("is none where Vertex AI refuses a token", () => {
		expect(withKeyNote(refused, { apiKey: "", keyHolder, providerType: "vertexai" })).toEqual(refused);
	});

	it("is distinguished from other failures", () => {
		const settings = { apiKey: "key", keyHolder, providerType: "openai_legacy" } as const;
		const forbidden = createFailure("status", "No.", 403);
		expect(withKeyNote(forbidden, settings).message).toMatch(/^No\. The key .*api_key\.$/);
		const others = [createFailure("status", "busy", 429), createFailure("login", "again", 401)];
		expect(others.map((failure) => withKeyNote(failure, settings))).toEqual(others);
	});
});

it("names the model and its server where Anthropic answers with the bare name", () => {
	const settings = { model: "claude-x", baseUrl: "https://api.anthropic.com" };
	const missing = createFailure("status", "model: claude-x", 404);
	expect(withModelNote(missing, settings).message).toBe('The model "claude-x" was not found at api.anthropic.com.');
	const others = [createFailure("status", "Not Found", 404), createFailure("status", "model: claude-x", 400)];
	expect(others.map((failure) => withModelNote(failure, settings))).toEqual(others);
});
