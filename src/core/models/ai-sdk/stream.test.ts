import type { LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { piece, seal, text, think, toolCall } from "../../../../test/support/models/model-conversation.ts";
import type { ToolCall } from "../../../api/values/content.ts";
import type { ModelPart } from "../model.ts";
import type { ProviderMemory } from "./memory.ts";
import { createPartReader, toTokenUsage } from "./stream.ts";

const memory: ProviderMemory = {
	origin: "maker:m1",
	key: "maker",
	names: { thought: ["signature", "itemId"], text: ["signature"], call: ["signature"] },
};

const usage: LanguageModelV3Usage = {
	inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const signed = (signature: string): { providerMetadata: SharedV3ProviderMetadata } => ({
	providerMetadata: { maker: { signature, other: 5 }, stranger: { signature: "not ours" } },
});
const textDelta = (delta: string): LanguageModelV3StreamPart => ({ type: "text-delta", id: "t", delta });
const reasoningDelta = (id: string, delta: string): LanguageModelV3StreamPart => ({
	type: "reasoning-delta",
	id,
	delta,
});
const begin = (id: string): LanguageModelV3StreamPart => ({ type: "tool-input-start", id, toolName: "f" });
const input = (id: string, delta: string): LanguageModelV3StreamPart => ({ type: "tool-input-delta", id, delta });
const whole = (toolCallId: string, given: string): LanguageModelV3StreamPart => ({
	type: "tool-call",
	toolCallId,
	toolName: "f",
	input: given,
});
const finish = (unified: "stop" | "length" = "stop"): LanguageModelV3StreamPart => ({
	type: "finish",
	usage,
	finishReason: { unified, raw: undefined },
});

const sealed = (of: "thought" | "text", retained: Record<string, string>) => seal(memory.origin, of, retained);
const call = (id: string, given: string | null = null, extras: ToolCall["extras"] = null) =>
	toolCall(id, "f", given, extras);

/** The parts emitted after each part of the stream. */
function readAll(parts: readonly LanguageModelV3StreamPart[]): ModelPart[][] {
	const reader = createPartReader(memory);
	return parts.map((part) => {
		reader.read(part);
		return reader.take();
	});
}

describe("the parts of a stream", () => {
	it.each<[string, LanguageModelV3StreamPart[], ModelPart[][]]>([
		[
			"text is passed on as it arrives",
			[{ type: "text-start", id: "t" }, textDelta("a"), textDelta(""), textDelta("b"), { type: "text-end", id: "t" }],
			[[], [text("a")], [], [text("b")], []],
		],
		[
			"reasoning is signed at its end",
			[
				{ type: "reasoning-start", id: "0", providerMetadata: { maker: { itemId: "i", signature: null } } },
				reasoningDelta("0", "a"),
				{ ...reasoningDelta("0", ""), ...signed("s") },
				{ type: "reasoning-end", id: "0" },
			],
			[[], [think("a")], [], [sealed("thought", { itemId: "i", signature: "s" })]],
		],
		[
			"unended reasoning is signed by the next part, and only once",
			[
				{ ...reasoningDelta("0", "a"), ...signed("s") },
				textDelta("b"),
				{ type: "reasoning-end", id: "0" },
				{ ...reasoningDelta("1", "c"), ...signed("u") },
				begin("c1"),
			],
			[
				[think("a")],
				[sealed("thought", { signature: "s" }), text("b")],
				[],
				[think("c")],
				[sealed("thought", { signature: "u" }), call("c1")],
			],
		],
		[
			"reasoning without metadata has no signature",
			[reasoningDelta("0", "a"), textDelta("b")],
			[[think("a")], [text("b")]],
		],
		[
			"the metadata of a text follows it",
			[textDelta("a"), { ...textDelta(""), ...signed("s") }],
			[[text("a")], [sealed("text", { signature: "s" })]],
		],
		[
			"the metadata of a call is sent with it",
			[{ ...begin("c1"), ...signed("s") }, whole("c1", "{}")],
			[[call("c1", null, { from: "maker:m1", kept: { signature: "s" } })], []],
		],
		[
			"a complete call has its arguments",
			[whole("c1", '{"a":1}'), whole("c2", "{}")],
			[[call("c1", '{"a":1}')], [call("c2")]],
		],
		[
			"arguments are emitted once",
			[
				begin("c1"),
				input("c1", '{"a"'),
				input("c1", ":1}"),
				{ type: "tool-input-end", id: "c1" },
				whole("c1", '{"a":1}'),
			],
			[[call("c1")], [piece('{"a"')], [piece(":1}")], [], []],
		],
		[
			"interleaved calls are emitted one after the other, and later parts wait",
			[
				begin("c1"),
				begin("c2"),
				input("c2", "{"),
				input("c1", "{"),
				textDelta("a"),
				input("c2", "}"),
				whole("c2", "{}"),
			].concat([input("c1", "}"), whole("c1", "{}")]),
			[[call("c1")], [], [], [piece("{")], [], [], [], [piece("}")], [call("c2", "{}"), text("a")]],
		],
		[
			"ids may repeat",
			[begin("c1"), whole("c1", "{}"), begin("c1"), input("c1", "{}"), whole("c1", "{}")],
			[[call("c1")], [], [call("c1")], [piece("{}")], []],
		],
		[
			"the end releases waiting parts",
			[begin("c1"), begin("c2"), textDelta("a"), finish()],
			[[call("c1")], [], [], [call("c2"), text("a")]],
		],
		[
			"a last call without its arguments has invalid ones",
			[begin("c1"), whole("c1", "{}"), begin("c2"), whole("c2", "{}"), finish("length")],
			[[call("c1")], [], [call("c2")], [], [piece("{")]],
		],
		[
			"a call before text is complete",
			[begin("c1"), whole("c1", "{}"), textDelta("a"), finish("length")],
			[[call("c1")], [], [text("a")], []],
		],
		[
			"tools that the provider runs are ignored",
			[
				{ type: "tool-input-start", id: "s1", toolName: "f", providerExecuted: true },
				input("s1", "{}"),
				{ type: "tool-call", toolCallId: "s1", toolName: "f", input: "{}", providerExecuted: true },
				{ type: "tool-result", toolCallId: "s1", toolName: "f", result: {} },
			],
			[[], [], [], []],
		],
	])("%s", (_name, parts, expected) => {
		expect(readAll(parts)).toEqual(expected);
	});

	it("fails at an event that the package could not parse", () => {
		expect(() => readAll([{ type: "error", error: new Error('Value: {"secret":1}') }])).toThrow(
			"The provider sent an event that does not fit its protocol.",
		);
	});

	it("reports the id, the end, and whether the answer is empty", () => {
		const reader = createPartReader(memory);
		expect(reader.answer).toEqual({ finish: null, messageId: null, isEmpty: true });
		reader.read({ type: "response-metadata", id: "m" });
		reader.read(reasoningDelta("0", "a"));
		expect(reader.answer.isEmpty).toBe(true);
		reader.read(textDelta("a"));
		const last = finish();
		reader.read(last);
		expect(reader.answer).toEqual({ finish: last, messageId: "m", isEmpty: false });
	});
});

describe("usage", () => {
	const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
	const silent = { total: undefined, text: undefined, reasoning: undefined };
	it.each<[string, LanguageModelV3Usage, readonly number[] | null]>([
		[
			"all counts",
			{ inputTokens: { total: 60, noCache: 10, cacheRead: 20, cacheWrite: 30 }, outputTokens: { ...silent, total: 5 } },
			[10, 5, 20, 30],
		],
		[
			"a total that includes the cached",
			{ inputTokens: { ...none, total: 60, cacheRead: 20 }, outputTokens: { total: 5, text: 3, reasoning: 2 } },
			[40, 5, 20, 0],
		],
		[
			"output by its kinds",
			{ inputTokens: { ...none, total: 1 }, outputTokens: { total: undefined, text: 3, reasoning: 2 } },
			[1, 5, 0, 0],
		],
		["nothing", { inputTokens: none, outputTokens: silent }, null],
		["zeros", { inputTokens: { ...none, total: 0 }, outputTokens: { ...silent, total: 0 } }, null],
	])("is read from %s", (_name, given, expected) => {
		const read = toTokenUsage(given);
		expect(read && [read.input_other, read.output, read.input_cache_read, read.input_cache_creation]).toEqual(expected);
	});
});
