// Token counts that no request has, from every provider that reports them.
import { describe, expect, it } from "vitest";
import { collectChunks, plainRequest } from "../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../test/support/models/model-subject.ts";
import { sendEvents } from "../../../test/support/models/provider-server.ts";
import { toCount } from "./token-count.ts";

const tested = createModelSubject({});
const events = (...values: readonly unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");
const absurd = [-5, 1e300, "12", null];

const answers = {
	openai_legacy: (count: unknown) =>
		events(
			{ choices: [{ delta: { content: "a" }, finish_reason: "stop" }] },
			{
				choices: [],
				usage: { prompt_tokens: count, completion_tokens: count, prompt_tokens_details: { cached_tokens: count } },
			},
		),
	openai_responses: (count: unknown) =>
		events(
			{ type: "response.created", response: { id: "r", created_at: 1_790_000_000, model: "m" } },
			{ type: "response.output_item.added", output_index: 0, item: { id: "i", type: "message" } },
			{ type: "response.output_text.delta", output_index: 0, item_id: "i", delta: "a" },
			{ type: "response.output_item.done", output_index: 0, item: { id: "i", type: "message" } },
			{
				type: "response.completed",
				response: {
					usage: { input_tokens: count, input_tokens_details: { cached_tokens: count }, output_tokens: count },
				},
			},
		),
	anthropic: (count: unknown) =>
		events(
			{ type: "message_start", message: { id: "m", usage: { input_tokens: count, cache_read_input_tokens: count } } },
			{ type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } },
			{ type: "content_block_stop", index: 0 },
			{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: count } },
			{ type: "message_stop" },
		),
	gemini: (count: unknown) =>
		events({
			candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }],
			usageMetadata: { promptTokenCount: count, cachedContentTokenCount: count, candidatesTokenCount: count },
		}),
} as const;
const types = ["openai_legacy", "openai_responses", "anthropic", "gemini"] as const;

async function usageOf(providerType: (typeof types)[number], answer: string) {
	tested.server.answerNext(sendEvents(answer));
	const model = await tested.create({ providerType });
	const last = (await collectChunks(model.stream(plainRequest, new AbortController().signal))).at(-1);
	return last?.type === "done" ? last.usage : last;
}

describe.each(types)("counts of %s", (type) => {
	it.each(absurd)("are none when they are %j", async (count) => {
		const usage = await usageOf(type, answers[type](count));
		const none = { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 };
		expect(usage ?? none).toEqual(none);
	});

	it("are whole tokens", async () => {
		expect(await usageOf(type, answers[type](12.7))).toMatchObject({ output: 12, input_cache_read: 12 });
	});
});

describe("cached tokens", () => {
	it("of Gemini that are more than those of the prompt leave no others", async () => {
		const answer = answers.gemini(30).replace('"promptTokenCount":30', '"promptTokenCount":10');
		expect(await usageOf("gemini", answer)).toMatchObject({ input_other: 0 });
	});
});

describe("a count", () => {
	it.each([
		[0, 0],
		[1.9, 1],
		[1_000_000_000, 1_000_000_000],
		[1_000_000_001, null],
		[-1, null],
		[Number.NaN, null],
		["1", null],
	])("%j is %j", (value, count) => expect(toCount(value)).toBe(count));
});
