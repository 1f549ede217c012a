// The requests to the API: thinking by model, tokens, cache marks, ids, images, address. Asserted on the body that a
// server receives.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
	assistant,
	plainRequest,
	text,
	toolCall,
	toolResult,
} from "../../../../test/support/models/model-conversation.ts";
import { plainModelSettings } from "../../../../test/support/models/model-settings.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { sendEvents } from "../../../../test/support/models/provider-server.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { toSeal } from "../answers/memory.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { memoryOf, toMessagesUrl } from "./request.ts";

const tested = createModelSubject({ providerType: "anthropic", model: "claude-sonnet-5", maxContextSize: 200_000 });

interface SentBody {
	readonly max_tokens: number;
	readonly thinking?: unknown;
	readonly output_config?: unknown;
	readonly temperature?: number;
	readonly top_p?: number;
	readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[];
}

async function send(settings: Partial<ModelSettings>, request: Partial<ModelRequest> = {}): Promise<SentBody> {
	await tested.ask(sendEvents('data: {"type":"message_stop"}\n\n'), settings, { ...plainRequest, ...request });
	const body = tested.server.requests.at(-1)?.body;
	return JSON.parse(JSON.stringify(body));
}

const user = (...texts: string[]): HistoryEntry => ({ role: "user", content: texts.map(text) });
const calls = (...ids: string[]) =>
	assistant(
		[],
		ids.map((id) => toolCall(id, "f", "{}")),
	);
const result = (toolCallId: string) => toolResult(toolCallId, text("r"));
const think = (origin: string): HistoryEntry["content"][number] => ({
	...toSeal(memoryOf({ model: origin }), "thought", { signature: "s" }),
	think: "t",
});

const summarized = { type: "adaptive", display: "summarized" };
const budget = (budget_tokens: number) => ({ type: "enabled", budget_tokens });

describe("thinking", () => {
	it.each([
		["claude-opus-4-7", summarized],
		["claude-sonnet-5", summarized],
		["claude-haiku-5-5-20261001", summarized],
		["anthropic/claude-opus-4.7", summarized],
		["claude-latest", summarized],
		["claude-opus-4-6", { type: "adaptive" }],
		["claude-sonnet-4-6@20260101", { type: "adaptive" }],
		["claude-sonnet-4-5-20250929", budget(32_000)],
		["claude-opus-4-20250514", budget(16_000)],
		["claude-3-7-sonnet-20250219", budget(32_000)],
		["kimi-k2.6", budget(32_000)],
	])("of %s is requested as %j", async (model, thinking) => {
		const body = await send({ model, thinking: "on" });
		expect(body.thinking).toEqual(thinking);
		expect(body.output_config).toEqual(thinking.type === "adaptive" ? { effort: "high" } : undefined);
	});

	it.each([
		["claude-sonnet-5", { type: "disabled" }],
		["claude-sonnet-4-5", { type: "disabled" }],
		["kimi-k2.6", { type: "disabled" }],
		["claude-sonnet-5-5", { type: "between_tools" }],
		["claude-opus-5-5", undefined],
	])("of %s is switched off as %j", async (model, thinking) => {
		expect((await send({ model, thinking: "off" })).thinking).toEqual(thinking);
	});

	it("is omitted when no mode is set", async () => {
		expect(await send({})).not.toHaveProperty("thinking");
	});

	it.each([
		[20_000, 16_000],
		[9000, 4000],
		[1280, 1024],
	])("has a budget that leaves space for the answer within %d tokens", async (maxCompletionTokens, expected) => {
		const sampling = { ...plainModelSettings.sampling, maxCompletionTokens };
		const body = await send({ model: "claude-sonnet-4-5", thinking: "on", sampling });
		expect([body.max_tokens, body.thinking]).toEqual([maxCompletionTokens, budget(expected)]);
	});

	it.each([
		[20_000, 18_000, 18_000],
		[20_000, 20_000, 16_000],
		[4000, 2500, 2500],
	])("has the request's budget where it leaves any of %d tokens for the answer: %d", async (most, wanted, expected) => {
		const sampling = { ...plainModelSettings.sampling, maxCompletionTokens: most };
		const model = { model: "claude-sonnet-4-5", capabilities: new Set(["thinking"] as const), sampling };
		const body = await send(model, { sampling: { thinkingBudget: wanted } });
		expect([body.max_tokens, body.thinking]).toEqual([most, budget(expected)]);
	});

	it("has no budget when it would leave no space for the answer", async () => {
		const sampling = { ...plainModelSettings.sampling, maxCompletionTokens: 1200 };
		expect(await send({ model: "claude-sonnet-4-5", thinking: "on", sampling })).not.toHaveProperty("thinking");
	});

	it("includes earlier reasoning for a model that always thinks, and for no other", async () => {
		const messages = [user("a"), { ...user("b"), role: "assistant", content: [think("claude-opus-5-5")] }] as const;
		const request = { messages: [...messages, user("c")] };
		const types = ({ messages: sent }: SentBody) => sent.flatMap(({ content }) => content.map(({ type }) => type));
		expect(types(await send({ model: "claude-opus-5-5", thinking: "off" }, request))).toEqual([
			"text",
			"thinking",
			"text",
		]);
		const own = { messages: [user("a"), { ...messages[1], content: [think("claude-sonnet-5")] }, user("c")] };
		expect(types(await send({ thinking: "off" }, own))).toEqual(["text", "text"]);
	});

	it.each([
		["a turn that began with reasoning", [think("claude-sonnet-4-5")], [], true],
		["a turn that began without one", [], [], false],
		["a turn of another model", [think("claude-opus-4-5")], [], false],
		["such a turn with a reminder after its results", [], [user("by the way")], false],
		["an ended turn", [], [{ ...user("done"), role: "assistant" as const }, user("next")], true],
	])("with a budget continues in %s", async (_name, content, more, thinks) => {
		const messages = [user("a"), { ...calls("c1"), content }, result("c1"), calls("c2"), result("c2"), ...more];
		const body = await send({ model: "claude-sonnet-4-5", thinking: "on" }, { messages });
		expect(body.thinking).toEqual(thinks ? budget(32_000) : undefined);
	});
});

describe("max_tokens and sampling", () => {
	const sampling = (changed: Partial<ModelSettings["sampling"]>) => ({
		sampling: { ...plainModelSettings.sampling, ...changed },
	});

	it.each([
		["50000 by default", {}, 50_000],
		["the configured limit", sampling({ maxCompletionTokens: 1000 }), 1000],
		["the default without a cap, as the API requires one", sampling({ maxCompletionTokens: 0 }), 50_000],
		["the maximum of the model", { model: "claude-opus-4-1" }, 32_000],
		["the rest of the window", { maxContextSize: 10_000 }, 10_000 - 1024 - 5],
		["at least one", { maxContextSize: 10 }, 1],
	])("are %s", async (_name, settings, expected) => {
		expect((await send(settings)).max_tokens).toBe(expected);
	});

	it("subtract the last known tokens of the conversation", async () => {
		expect((await send({}, { knownTokens: 180_000 })).max_tokens).toBe(200_000 - 180_000 - 1024);
	});

	it.each([
		["include temperature", "claude-sonnet-4-5", { temperature: 0.3 }, { temperature: 0.3 }],
		["include top_p", "claude-sonnet-4-5", { topP: 0.8 }, { top_p: 0.8 }],
		["include neither for a model that refuses them", "claude-sonnet-5", { temperature: 0.3, topP: 0.8 }, {}],
	])("%s", async (_name, model, given, expected) => {
		const { temperature, top_p } = await send({ model, ...sampling(given) });
		expect({ temperature, top_p }).toEqual({ temperature: undefined, top_p: undefined, ...expected });
	});

	it("include no temperature for a model that thinks", async () => {
		const settings = { model: "claude-sonnet-4-5", thinking: "on", ...sampling({ temperature: 0.3 }) } as const;
		expect(await send(settings)).not.toHaveProperty("temperature");
	});
});

describe("cache marks", () => {
	const tool = { name: "f", description: "d", parameters: { type: "object" } };

	function places(body: unknown): string[] {
		const found: string[] = [];
		const search = (value: unknown, place: string) => {
			if (typeof value !== "object" || value === null) return;
			if ("cache_control" in value) found.push(place);
			for (const [key, inner] of Object.entries(value)) search(inner, place === "" ? key : `${place}.${key}`);
		};
		search(body, "");
		return found.sort();
	}

	it("are on the system prompt, the last tool and the last block", async () => {
		const messages = [user("a"), calls("c1", "c2"), result("c1"), result("c2")];
		expect(places(await send({}, { tools: [tool, { ...tool, name: "g" }], messages }))).toEqual([
			"messages.2.content.1",
			"system.0",
			"tools.1",
		]);
	});

	it("are also at the end of the previous request, when the API would not look that far back", async () => {
		const ids = Array.from({ length: 10 }, (_, index) => `c${index}`);
		const messages = [user("a"), calls(...ids), ...ids.map(result), user("by the way")];
		expect(places(await send({}, { tools: [tool], messages }))).toEqual([
			"messages.0.content.0",
			"messages.2.content.10",
			"system.0",
			"tools.0",
		]);
	});

	it("require neither a system prompt nor tools", async () => {
		expect(places(await send({}, { systemPrompt: "" }))).toEqual(["messages.0.content.0"]);
	});
});

describe("the messages", () => {
	it("have ids that the API accepts, the same in call and result", async () => {
		const messages = [user("a"), calls("f:0"), result("f:0"), calls("f:0", "f_0"), result("f:0"), result("f_0")];
		const { messages: sent } = await send({}, { messages });
		const ids = sent.flatMap(({ content }) => content.flatMap((block) => block["id"] ?? block["tool_use_id"] ?? []));
		expect(ids).toEqual(["f_0", "f_0", "f_0_2", "f_0_3", "f_0_2", "f_0_3"]);
	});

	it("have all results of a message first in the next, then the user's text", async () => {
		const messages = [user("a"), calls("c1", "c2"), result("c1"), result("c2"), user("b")];
		const { messages: sent } = await send({}, { messages });
		expect(sent.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
			["user", ["text"]],
			["assistant", ["tool_use", "tool_use"]],
			["user", ["tool_result", "tool_result", "text"]],
		]);
	});
});

describe("the address", () => {
	it.each([
		["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
		["https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"],
		["https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"],
		["https://h/anthropic/v1/", "https://h/anthropic/v1/messages"],
		["https://h/anthropic?key=x", "https://h/anthropic/v1/messages?key=x"],
	])("is derived from %s: %s", (base, address) => {
		expect(toMessagesUrl(base).href).toBe(address);
	});
});

describe("headers", () => {
	afterEach(() => vi.unstubAllEnvs());

	it("contain nothing from the environment of the process", async () => {
		vi.stubEnv("ANTHROPIC_API_KEY", "from-the-environment");
		vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "from-the-environment");
		vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
		await send({ apiKey: "" });
		expect(tested.server.requests[0]?.headers).not.toHaveProperty("x-api-key");
		expect(JSON.stringify(tested.server.requests[0]?.headers)).not.toContain("from-the-environment");
	});

	it("can be overridden by the user", async () => {
		const customHeaders = { "anthropic-beta": "mine-2026-01-01", Authorization: "Bearer token" };
		await send({ model: "claude-sonnet-4-5", thinking: "on", apiKey: "", customHeaders });
		expect(tested.server.requests[0]?.headers).toMatchObject({
			"anthropic-beta": "mine-2026-01-01",
			authorization: "Bearer token",
		});
	});
});
