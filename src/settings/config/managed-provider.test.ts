import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { configurationFailure } from "../../../test/support/host/configuration-failure.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { silentLog } from "../../base/log.ts";
import { readConfiguration } from "./configuration-reader.ts";
import { addManagedProvider, type ManagedProvider, removeManagedProvider } from "./managed-provider.ts";

const managed: ManagedProvider = {
	baseUrl: "https://api.example.com/v1",
	key: "oauth/kimi-code",
	models: [
		{ id: "k2", maxContextSize: 262_144, capabilities: ["image_in", "thinking"], displayName: "Kimi K2" },
		{ id: "k1", maxContextSize: 100_000, capabilities: [], displayName: null },
	],
};

const added = `
[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://api.example.com/v1"
api_key = ""
oauth = { storage = "file", key = "oauth/kimi-code" }

[models."kimi-code/k2"]
provider = "managed:kimi-code"
model = "k2"
max_context_size = 262144
capabilities = ["image_in", "thinking"]
display_name = "Kimi K2"

[models."kimi-code/k1"]
provider = "managed:kimi-code"
model = "k1"
max_context_size = 100000
capabilities = []
`;

const add = (text: string, more: Partial<ManagedProvider> = {}) =>
	addManagedProvider(text, "/c", { ...managed, ...more });
const remove = (text: string) => removeManagedProvider(text, "/c");

/** What a person and other programs have made of the file. */
const mine = `# My settings, do not touch
default_model = "mine"   # the best
default_thinking = true

[models.mine] # of my own
provider = "p"
model = 'x'
max_context_size = 1_000

[providers.p]
type = "openai_legacy"
base_url = "http://127.0.0.1:1/v1"
api_key = """secret"""

[[hooks]]
event = "Stop"
command = "echo '[providers.p]' # not a heading"
`;

describe("addManagedProvider", () => {
	it("writes the provider, its models and the first of them as default", async () => {
		expect(await add("")).toEqual({
			text: `default_model = "kimi-code/k2"\n${added}`,
			defaultModel: "kimi-code/k2",
		});
		const { text } = await add("");
		const { configuration } = await readConfiguration({ kind: "text", text }, createMemoryFiles(), silentLog);
		expect(configuration).toMatchObject({
			defaultModel: "kimi-code/k2",
			models: { "kimi-code/k2": { displayName: "Kimi K2" }, "kimi-code/k1": { displayName: null } },
			providers: { "managed:kimi-code": { oauth: { storage: "file", key: "oauth/kimi-code" } } },
		});
	});

	it("preserves everything else", async () => {
		expect(await add(mine)).toEqual({ text: mine + added, defaultModel: "mine" });
	});

	it("fills in an empty default model on its line", async () => {
		const text = `theme = "dark"\ndefault_model = "" # none yet\n\n[models]\n\n[providers]\n`;
		expect((await add(text)).text).toBe(text.replace('""', '"kimi-code/k2"') + added);
	});

	it("is idempotent, and preserves the person's own changes", async () => {
		const { text } = await add(mine);
		expect((await add(text)).text).toBe(text);
		const other = text
			.replace('oauth = { storage = "file", key = "oauth/kimi-code" }\n', "")
			.replace('capabilities = ["image_in", "thinking"]', 'capabilities = [\n  "image_in", # sees\n  "thinking",\n]')
			.concat("\n[providers.'managed:kimi-code'.oauth]\nkey = \"oauth/kimi-code\"\nstorage = 'file'\n");
		expect((await add(other)).text).toBe(other);
	});

	it("updates the data of the platform, and preserves the person's own keys", async () => {
		const others = `
[models."kimi-code/own"]
provider = "p"
model = "x"
max_context_size = 1

[providers.p]
type = "kimi"
base_url = ""
api_key = ""
`;
		const before = `default_model = "kimi-code/old"

[models."kimi-code/old"]
provider = "managed:kimi-code"
model = "old"
max_context_size = 1

[models."kimi-code/k2"]
provider = "managed:kimi-code"
later = "kept" # mine
max_context_size = 1
model = "k2"
${others}
[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://old.example.com"
api_key = "sk-old"
custom_headers = { A = "b" }

[providers."managed:kimi-code".oauth]
storage = "keyring"
key = "oauth/kimi-code"
`;
		const { text, defaultModel } = await add(before, { models: managed.models.slice(0, 1) });
		expect(defaultModel).toBe("kimi-code/k2");
		expect(text).toBe(`default_model = "kimi-code/k2"

[models."kimi-code/k2"]
provider = "managed:kimi-code"
later = "kept" # mine
max_context_size = 262144
model = "k2"
capabilities = ["image_in", "thinking"]
display_name = "Kimi K2"
${others}
[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://api.example.com/v1"
api_key = ""
custom_headers = { A = "b" }
oauth = { storage = "file", key = "oauth/kimi-code" }
`);
	});

	it("quotes names that need it", async () => {
		const models = [{ id: 'a."b]\n', maxContextSize: 1, capabilities: [], displayName: "\u007f" }];
		const { text } = await add("", { models });
		expect(parse(text)).toMatchObject({
			default_model: 'kimi-code/a."b]\n',
			models: { 'kimi-code/a."b]\n': { model: 'a."b]\n', display_name: "\u007f" } },
		});
		expect((await remove(text)).text).toBe('default_model = ""\n');
	});

	it.each([
		["invalid TOML", "default_model = \n", "syntax", "Invalid TOML in configuration file /c:\n  not TOML at line 1"],
		[
			"models in one line",
			'models = { m = { provider = "p", model = "x", max_context_size = 1 } }\n',
			"uneditable",
			"Cannot edit configuration file /c in place:\n  write models and providers as tables with headings like [models.name]",
		],
		["a provider with dots", 'providers."managed:kimi-code".type = "kimi"\n', "uneditable", "Cannot edit"],
		["models that are no tables", "models = 5\n", "uneditable", "Cannot edit"],
	])("refuses %s", async (_, text, category, message) => {
		const error = await configurationFailure(add(text));
		expect(error.category).toBe(category);
		expect(error.message).toContain(message);
	});
});

describe("removeManagedProvider", () => {
	it.each([
		["of a person", mine],
		["without a default model", 'default_model = ""\n'],
		["with the line ends of Windows", 'default_model = ""\r\ntheme = "dark"\r\n'],
	])("removes a sign-in from the file %s, byte for byte", async (_, text) => {
		const signedIn = (await add(text)).text;
		expect(signedIn).not.toBe(text);
		expect((await remove(signedIn)).text).toBe(text);
	});

	it("leaves a file without a sign-in unchanged", async () => {
		expect(await remove(mine)).toEqual({ text: mine, defaultModel: "mine" });
	});

	it("retains the provider, without its sign-in, for the person's own model", async () => {
		const own = '\n[models.own]\nprovider = "managed:kimi-code"\nmodel = "k2"\nmax_context_size = 5\n';
		const { text } = await remove((await add(`default_model = "own"\n${own}`)).text);
		expect(text).toBe(
			`default_model = "own"\n${own}
[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://api.example.com/v1"
api_key = ""
`,
		);
	});

	it("refuses a file that is not TOML", async () => {
		expect((await configurationFailure(remove("[models\n"))).category).toBe("syntax");
	});
});
