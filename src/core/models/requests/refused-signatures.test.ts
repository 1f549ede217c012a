// Signatures and encrypted reasoning that the provider refuses: the body that it is sent afterwards.
import { describe, expect, it } from "vitest";
import {
	assistant,
	collectChunks,
	plainRequest,
	seal,
	text,
	think,
	toolCall,
	toolResult,
	user,
} from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { readProviderFixture, sendEvents, sendJson } from "../../../../test/support/models/provider-server.ts";
import type { ContentPart } from "../../../api/values/content.ts";
import { toExtras } from "../answers/memory.ts";
import { memoryOf } from "../google/request.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

const tested = createModelSubject({ thinking: "on", capabilities: new Set(["thinking"]) });

function conversation(reasoning: readonly ContentPart[], extras: Record<string, unknown> | null = null): ModelRequest {
	return {
		...plainRequest,
		messages: [
			user(text("Weather?")),
			assistant([...reasoning, text("I look.")], [toolCall("c1", "get_weather", "{}", extras)]),
			toolResult("c1", text("rain")),
		],
	};
}

const types: readonly [string, Partial<ModelSettings>, ModelRequest, string, unknown, string][] = [
	[
		"signatures of Claude",
		{ providerType: "anthropic", model: "claude-sonnet-4-5" },
		conversation([think("so"), seal("anthropic:claude-sonnet-4-5", "thought", { signature: "SIGNED" })]),
		"anthropic-stream.sse",
		{
			type: "error",
			error: {
				type: "invalid_request_error",
				message: "messages.1.content.0: Invalid `signature` in `thinking` block",
			},
		},
		"signature",
	],
	[
		"redacted reasoning of Claude",
		{ providerType: "anthropic", model: "claude-sonnet-5" },
		conversation([seal("anthropic:claude-sonnet-5", "thought", { redactedData: "SIGNED" })]),
		"anthropic-stream.sse",
		{
			type: "error",
			error: { type: "invalid_request_error", message: "messages.1: Invalid `data` in `redacted_thinking` block" },
		},
		"redacted_thinking",
	],
	[
		"encrypted reasoning of OpenAI",
		{ providerType: "openai_responses", model: "gpt-5.2" },
		conversation([seal("openai:gpt-5.2", "thought", { itemId: "rs_1", reasoningEncryptedContent: "SIGNED" })]),
		"responses-stream.sse",
		{
			error: {
				message: "The encrypted content for item rs_1 could not be verified.",
				type: "invalid_request_error",
				param: null,
				code: "invalid_encrypted_content",
			},
		},
		"encrypted_content",
	],
	[
		"signatures of Gemini",
		{ providerType: "gemini", model: "gemini-3-pro" },
		conversation([], toExtras(memoryOf({ model: "gemini-3-pro" }), { thoughtSignature: "SIGNED" })),
		"gemini-stream.sse",
		{ error: { code: 400, message: "Corrupted thought signature.", status: "INVALID_ARGUMENT" } },
		"SIGNED",
	],
];

const bodies = () => tested.server.requests.map(({ body }) => JSON.stringify(body));

describe.each(types)("%s", (_name, settings, request, fixture, refusal, mark) => {
	it("are left out of a second request when the provider refuses them, and of the later ones", async () => {
		const model = await tested.create(settings);
		const ask = async (given: ModelRequest) =>
			(await collectChunks(model.stream(given, new AbortController().signal))).at(-1)?.type;
		tested.server.answerNext(sendJson(400, {}, refusal));
		tested.server.answerNext(sendEvents(readProviderFixture(fixture)));
		expect(await ask(request)).toBe("done");
		tested.server.answerNext(sendEvents(readProviderFixture(fixture)));
		expect(await ask({ ...request, messages: [...request.messages, user(text("go on"))] })).toBe("done");
		const [first, ...others] = bodies();
		expect(first).toContain("SIGNED");
		expect(others).toHaveLength(2);
		for (const body of others) {
			expect(body).not.toContain(`"${mark}":`);
			expect(body).not.toContain("SIGNED");
			expect(body).toContain("I look.");
		}
	});

	it("are sent once when there is another fault, or nothing to leave out", async () => {
		const model = await tested.create(settings);
		const ask = async (given: ModelRequest) => collectChunks(model.stream(given, new AbortController().signal));
		tested.server.answerNext(sendJson(400, {}, { error: { message: "No such parameter.", type: "x" } }));
		expect(await ask(request)).toMatchObject([{ failure: { statusCode: 400 } }]);
		tested.server.answerNext(sendJson(400, {}, refusal));
		expect(await ask(plainRequest)).toMatchObject([{ failure: { statusCode: 400 } }]);
		tested.server.answerNext(sendJson(500, {}, refusal));
		expect(await ask(request)).toMatchObject([{ type: "failed" }]);
		expect(bodies()).toHaveLength(3);
		expect(bodies()[2]).toContain("SIGNED");
	});

	it("are left out once only", async () => {
		const model = await tested.create(settings);
		tested.server.answerNext(sendJson(400, {}, refusal));
		tested.server.answerNext(sendJson(400, {}, refusal));
		expect(await collectChunks(model.stream(request, new AbortController().signal))).toMatchObject([
			{ type: "failed", failure: { statusCode: 400 } },
		]);
		expect(bodies()).toHaveLength(2);
	});
});
