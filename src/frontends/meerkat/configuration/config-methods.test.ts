// Changes of the configuration that are requested at once.
import { expect, it } from "vitest";
import { createSpokenServer } from "../../../../test/support/meerkat/spoken-server.ts";
import { createMemoryStore } from "../../../ports/store/memory/memory-store.ts";

it("changes that are requested at once are counted one by one, and a later read sees them all", async () => {
	const server = await createSpokenServer(["pong"], createMemoryStore());
	const numbers = [100, 200, 300];
	const answers = await server.askAll([
		...numbers.map((max_tokens) => ["config/patch", { patch: { max_tokens } }] as const),
		["config/get", {}],
	]);
	expect(answers).toMatchObject([
		...numbers.map((max_tokens, index) => ({ result: { generation: index + 1, config: { max_tokens } } })),
		{ result: { generation: 3, config: { max_tokens: 300 } } },
	]);
	const patch = { patch: { max_tokens: 400 }, expected_generation: 3 };
	const both = await server.askAll([
		["config/patch", patch],
		["config/patch", patch],
	]);
	expect(both).toMatchObject([
		{ result: { generation: 4 } },
		{ error: { code: -32602, message: "Generation conflict: expected 3, current 4" } },
	]);
	await server.end();
});
