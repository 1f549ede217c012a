// One answer (reasoning, a sentence, two calls in parallel) as the servers that people run themselves stream it, each
// with its quirks (provider-apis §1.3). The adapter produces the same parts for all of them.
import { describe, expect, it } from "vitest";
import { partsOf, seal, text, think, toolCall } from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { sendEvents } from "../../../../test/support/models/provider-server.ts";
import type { TokenUsage } from "../../../api/values/content.ts";
import { isRecord } from "../../../base/json.ts";
import type { ModelChunk, ModelPart } from "../model.ts";

interface Scene {
	/** Fields of every chunk next to its choices. */
	readonly common: Record<string, unknown>;
	readonly deltas: readonly Record<string, unknown>[];
	/** Fields of every choice. */
	readonly choice?: Record<string, unknown>;
	/** The chunks after the deltas. */
	readonly ends: readonly Record<string, unknown>[];
	readonly hasDone?: boolean;
	/** The ids of the calls; null for generated ones. */
	readonly ids: readonly [string | null, string | null];
	readonly usage: TokenUsage | null;
	/** What the server wants back with the message. */
	readonly members?: Readonly<Record<string, unknown>>;
}

const call = (id: string | null, name: string, given: unknown, others: Record<string, unknown> = {}) => ({
	...(id === null ? {} : { id }),
	type: "function",
	function: { name, arguments: given },
	...others,
});
const weather = '{"city":"Oslo"}';
const imagePart = '{"path":"pic.png"}';
const counts = { prompt_tokens: 1200, completion_tokens: 96, total_tokens: 1296 };
const counted = { input_other: 1200, output: 96, input_cache_read: 0, input_cache_creation: 0 };
const finish = (reason: string, others: Record<string, unknown> = {}) => ({
	choices: [{ index: 0, delta: {}, finish_reason: reason, ...others }],
});

const scenes: Readonly<Record<string, Scene>> = {
	Ollama: {
		common: { id: "chatcmpl-693", object: "chat.completion.chunk", created: 1.79e9, system_fingerprint: "fp_ollama" },
		choice: { finish_reason: null },
		deltas: [
			{ role: "assistant", content: "", reasoning: "Two facts." },
			{ role: "assistant", content: "Checking both." },
			{ role: "assistant", content: "", tool_calls: [call("call_a1", "get_weather", weather, { index: 0 })] },
			{ role: "assistant", content: "", tool_calls: [call("call_b2", "read_image", imagePart, { index: 1 })] },
		],
		ends: [finish("stop"), { choices: [], usage: counts }],
		ids: ["call_a1", "call_b2"],
		usage: counted,
	},
	"Ollama of old": {
		common: { id: "chatcmpl-7", created: 1_790_000_000.5 },
		choice: { finish_reason: "" },
		deltas: [
			{ reasoning: "Two facts.", content: "" },
			{ content: "Checking both." },
			{ content: "", tool_calls: [call("", "get_weather", weather, { index: 0 })] },
			{ content: "", tool_calls: [call("", "read_image", imagePart, { index: 1 })] },
		],
		ends: [finish("stop")],
		ids: [null, null],
		usage: null,
	},
	vLLM: {
		common: {
			id: "chatcmpl-5c1",
			prompt_logprobs: null,
			kv_transfer_params: null,
			usage: { ...counts, completion_tokens: 1, prompt_tokens_details: null },
		},
		choice: { stop_reason: null, token_ids: null, logprobs: null, finish_reason: null },
		deltas: [
			{ role: "assistant", content: "" },
			{ reasoning: "Two facts.", reasoning_content: "Two facts." },
			{ content: "Checking both." },
			{ tool_calls: [call("chatcmpl-tool-1", "get_weather", "", { index: 0 })] },
			{ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
			{ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] },
			{ tool_calls: [call("chatcmpl-tool-2", "read_image", imagePart, { index: 1 })] },
		],
		ends: [
			finish("tool_calls", { stop_reason: 151_645 }),
			{ choices: [], usage: { ...counts, prompt_tokens_details: null } },
		],
		ids: ["chatcmpl-tool-1", "chatcmpl-tool-2"],
		usage: counted,
	},
	"llama.cpp": {
		common: { id: "chatcmpl-x", __verbose: { content: "…" }, prompt_progress: { total: 9, cache: 3, processed: 9 } },
		choice: { finish_reason: null },
		deltas: [
			{ role: "assistant", content: null },
			{ reasoning_content: "Two facts." },
			{ content: "Checking both." },
			{ tool_calls: [call("a1", "get_weather", "{", { index: 0 })] },
			{ tool_calls: [{ index: 0, function: { arguments: '"city":"Oslo"}' } }] },
			{ tool_calls: [call("b2", "read_image", imagePart, { index: 1 })] },
		],
		ends: [{ ...finish("tool_calls"), usage: counts, timings: { cache_n: 3, prompt_ms: 10.5 } }],
		ids: ["a1", "b2"],
		usage: counted,
	},
	"LM Studio": {
		common: { id: "chatcmpl-lm", system_fingerprint: "qwen" },
		choice: { logprobs: null, finish_reason: null },
		deltas: [
			{ role: "assistant", reasoning_content: "Two facts." },
			{ role: "assistant", content: "Checking both." },
			{ tool_calls: [call("318957301", "get_weather", "", { index: 0 })] },
			{ tool_calls: [{ index: 0, type: "function", function: { name: "", arguments: weather } }] },
			{ tool_calls: [call("318957302", "read_image", "", { index: 1 })] },
			{ tool_calls: [{ index: 1, type: "function", function: { name: "", arguments: imagePart } }] },
		],
		ends: [{ ...finish("tool_calls"), usage: counts, stats: { stop_reason: "toolCalls" } }],
		hasDone: false,
		ids: ["318957301", "318957302"],
		usage: counted,
	},
	"a gateway": {
		common: { id: "gen-1", provider: "X", native_finish_reason: null },
		choice: { finish_reason: null },
		deltas: [
			{
				role: "assistant",
				content: "",
				reasoning: "Two facts.",
				reasoning_details: [{ type: "reasoning.text", text: "Two facts." }],
			},
			{ content: "Checking both.", reasoning: null },
			{ tool_calls: [call("toolu_1", "get_weather", { city: "Oslo" }, { index: 0 })] },
			{ tool_calls: [call("toolu_2", "read_image", { path: "pic.png" }, { index: 0 })] },
		],
		ends: [finish("tool_calls", { usage: counts })],
		ids: ["toolu_1", "toolu_2"],
		members: { reasoning_details: [{ type: "reasoning.text", text: "Two facts." }] },
		usage: counted,
	},
	"a server that repeats everything": {
		common: { id: "r1" },
		deltas: [
			{ role: "assistant", reasoning_content: "Two facts." },
			{ role: "assistant", content: "Checking both." },
			{ role: "assistant", tool_calls: [call("c1", "get_weather", '{"city":')] },
			{ role: "assistant", tool_calls: [call("c1", "get_weather", '"Oslo"}')] },
			{ role: "assistant", tool_calls: [call("c2", "read_image", imagePart)] },
		],
		ends: [finish("stop")],
		ids: ["c1", "c2"],
		usage: null,
	},
};

function toStream({ common, choice, deltas, ends, hasDone = true }: Scene): string {
	const chunks = [
		...deltas.map((delta) => ({ ...common, choices: [{ index: 0, delta, ...choice }] })),
		...ends.map((end) => ({ ...common, usage: null, ...end })),
	];
	return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}${hasDone ? "data: [DONE]\n\n" : ""}`;
}

/** Joins the pieces of each call, however they were split. */
function joined(chunks: readonly ModelChunk[]): ModelPart[] {
	const parts: ModelPart[] = [];
	for (const part of partsOf(chunks)) {
		const last = parts.at(-1);
		if (part.type !== "tool_call_part" || last?.type !== "function") parts.push(part);
		else {
			const given = (last.function.arguments ?? "") + (part.arguments_part ?? "");
			parts[parts.length - 1] = { ...last, function: { ...last.function, arguments: given } };
		}
	}
	return parts;
}

const tested = createModelSubject({ providerType: "openai_legacy" }, "/v1");

describe("a self-hosted server", () => {
	it.each(Object.entries(scenes))("is supported: %s", async (_name, scene) => {
		const chunks = await tested.ask(sendEvents(toStream(scene), { chunkSize: 11 }));
		const made = (id: string | null) => id ?? expect.stringMatching(/^call_[0-9a-f]{24}$/);
		expect(joined(chunks)).toEqual([
			think("Two facts."),
			text("Checking both."),
			...(scene.members === undefined ? [] : [seal("chat:kimi-k2.6", "message", scene.members)]),
			{ ...toolCall("", "get_weather", weather), id: made(scene.ids[0]) },
			{ ...toolCall("", "read_image", imagePart), id: made(scene.ids[1]) },
		]);
		expect(chunks.at(-1)).toEqual({ type: "done", usage: scene.usage, messageId: scene.common["id"] });
		// The request contains no fields that only some of the servers know.
		const body = tested.server.requests[0]?.body;
		expect(isRecord(body) ? Object.keys(body).sort() : null).toEqual(["messages", "model", "stream", "stream_options"]);
	});

	it("gets no key when there is none", async () => {
		await tested.ask(sendEvents("data: [DONE]\n\n"), { apiKey: "" });
		expect(tested.server.requests[0]?.headers.authorization).toBeUndefined();
	});
});
