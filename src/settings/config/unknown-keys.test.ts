import { expect, it } from "vitest";
import { parseToml } from "./syntax.ts";
import { unknownKeys } from "./unknown-keys.ts";

const text = `default_model = "a"
default_modle = "b"

[models.a]
provider = "p"
max_contxt_size = 1
capabilities = { image_in = true }
price = { input = 1, outptu = 2 }

[providers.p]
type = "kimi"
apikey = "k"
env = { ANYTHING = "x" }
oauth = { key = "k", storge = "file" }

[loop_control]
max_steps_per_run = 3
max_step = 4

[[hooks]]
event = "Stop"
comand = "x"

[agentwire.limits]
session_token = 3

[services.moonshot_search]
base = "x"

["mcp "]
x = 1
`;

it("are found at every level of the settings", async () => {
	const parsed = await parseToml(text);
	expect(unknownKeys(parsed.ok ? parsed.value : null)).toEqual([
		"default_modle",
		"models.a.max_contxt_size",
		"models.a.price.outptu",
		"providers.p.apikey",
		"providers.p.oauth.storge",
		"loop_control.max_step",
		"hooks[0].comand",
		"agentwire.limits.session_token",
		"services.moonshot_search.base",
		'"mcp "',
	]);
});

it("are none in what is no table", () => {
	for (const value of [null, 3, [], "x", { models: 3, hooks: {} }]) expect(unknownKeys(value)).toEqual([]);
});
