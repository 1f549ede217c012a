// Budgets for reasoning that clients of Meerkat RPC give, on the wire to providers.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import type { Server, ServerLine } from "../support/executable/running-server.ts";
import { answer, create, end, serve } from "../support/meerkat/meerkat-lines.ts";
import { startRecordedModel } from "../support/meerkat/recorded/model.ts";
import type { ProviderServer } from "../support/models/provider-server.ts";

/** Three models of Anthropic's and one of another vendor's at one address. */
async function open(): Promise<{ readonly server: Server; readonly model: ProviderServer }> {
	const model = await startRecordedModel();
	onTestFinished(() => model.close());
	const stage = createStage();
	const toModel = ([name, provider, capabilities]: readonly string[]) =>
		`[models."${name}"]\nprovider = "${provider}"\nmodel = "${name}"\nmax_context_size = 200000\ncapabilities = [${capabilities}]`;
	const models = [
		["claude-sonnet-4-5", "anthropic", '"thinking"'],
		["claude-opus-4-8", "anthropic", '"thinking"'],
		["claude-haiku-4-5", "anthropic", ""],
		["k2", "kimi", '"thinking"'],
	].map(toModel);
	const toProvider = (name: string) =>
		`[providers.${name}]\ntype = "${name}"\nbase_url = "${model.url}"\napi_key = "k"`;
	const providers = ["anthropic", "kimi"].map(toProvider);
	writeFileSync(
		path.join(stage.shareDir, "config.toml"),
		['default_model = "claude-sonnet-4-5"', ...models, ...providers].join("\n\n"),
	);
	const server = serve(stage);
	await answer(server, "capabilities", "capabilities/get", {});
	return { server, model };
}

const askedThinking = ({ requests }: ProviderServer) =>
	requests.map(({ body }) => (body as Readonly<Record<string, unknown>>)["thinking"]);
const refusal = (line: ServerLine) => (line.error as { message?: string; code?: number } | undefined) ?? {};

describe("a budget for reasoning", () => {
	it("is sent to the provider from its turn on, until it is taken back", async () => {
		const { server, model } = await open();
		const id = await create(server, { prompt: "ECHO one", provider_params: { thinking_budget_tokens: 3000 } });
		const turn = (name: string, provider_params?: object) =>
			answer(server, name, "turn/start", { session_id: id, prompt: "ECHO two", provider_params });
		await turn("t1");
		await turn("t2", { provider_tag: { provider: "anthropic", thinking_budget_tokens: 5000 } });
		await turn("t3", { action: "clear" });
		await end(server);
		const budget = (budget_tokens: number) => ({ type: "enabled", budget_tokens });
		expect(askedThinking(model)).toEqual([budget(3000), budget(3000), budget(5000), { type: "disabled" }]);
	});

	it("is refused by name at a turn whose model takes none, which changes nothing, until it is taken back", async () => {
		const { server, model } = await open();
		const id = await create(server, { prompt: "ECHO one", provider_params: { thinking_budget_tokens: 3000 } });
		const turn = (name: string, more: object) =>
			answer(server, name, "turn/start", { session_id: id, prompt: "ECHO two", ...more });
		for (const [name, other] of ["claude-opus-4-8", "k2"].entries()) {
			expect(refusal(await turn(`t${name}`, { model: other }))).toEqual(
				expect.objectContaining({
					code: -32602,
					message: expect.stringMatching(
						/`provider_params.thinking_budget_tokens` \(chosen by an earlier request.*is not supported/,
					),
				}),
			);
		}
		expect(await turn("still", {})).toMatchObject({ result: expect.anything() });
		expect(await turn("cleared", { model: "claude-opus-4-8", provider_params: { action: "clear" } })).toMatchObject({
			result: expect.anything(),
		});
		await end(server);
		expect(askedThinking(model).slice(0, 2)).toEqual(Array(2).fill({ type: "enabled", budget_tokens: 3000 }));
		expect(model.requests).toHaveLength(3);
	});

	it.each([
		[{ thinking_budget_tokens: 3000 }, "claude-opus-4-8", "`provider_params.thinking_budget_tokens` is not supported"],
		[{ thinking_budget_tokens: 3000 }, "k2", "`provider_params.thinking_budget_tokens` is not supported"],
		[{ thinking_budget_tokens: 3000 }, "claude-haiku-4-5", "never reasons"],
		[{ thinking_budget_tokens: 1000 }, "claude-sonnet-4-5", "at least 1024"],
		[{ thinking_budget_tokens: -1 }, "claude-sonnet-4-5", "thinking_budget_tokens"],
		[{ thinking_budget_tokens: 3000, reasoning: "off" }, "claude-sonnet-4-5", "`reasoning` is off"],
		[{ provider_tag: { provider: "gemini", thinking_budget: 3000 } }, "claude-sonnet-4-5", "is of the provider gemini"],
		[{ provider_tag: { provider: "anthropic", effort: "high" } }, "claude-sonnet-4-5", "`effort`"],
		[{ provider_tag: { provider: "open_ai", seed: 1 } }, "k2", "provider: open_ai"],
		[
			{ thinking_budget_tokens: 3000, provider_tag: { provider: "anthropic", thinking_budget_tokens: 4000 } },
			"claude-sonnet-4-5",
			"says again",
		],
	])("%j of %s is refused", async (provider_params, model, why) => {
		const { server, model: provider } = await open();
		const line = await answer(server, "c", "session/create", { prompt: "ECHO one", model, provider_params });
		expect(refusal(line)).toMatchObject({ code: -32602, message: expect.stringContaining(why) });
		await end(server);
		expect(provider.requests).toEqual([]);
	});
});
