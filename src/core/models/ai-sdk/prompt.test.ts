import { describe, expect, it } from "vitest";
import {
	assistant,
	image,
	text,
	toolCall,
	toolResult,
	user,
} from "../../../../test/support/models/model-conversation.ts";
import type { ContentPart, ToolCall } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { createCallIds } from "./call-ids.ts";
import { type ProviderMemory, toSeal } from "./memory.ts";
import { toFunctionTools, toPrompt } from "./prompt.ts";

const memory: ProviderMemory = {
	origin: "maker:m1",
	key: "maker",
	names: { thought: ["signature"], text: ["signature"], call: ["signature"] },
};
const stranger: ProviderMemory = { ...memory, origin: "other:m1" };

const video = (url: string): ContentPart => ({ type: "video_url", video_url: { url, id: null } });
const call = (id: string, given: string | null, extras: ToolCall["extras"] = null) => toolCall(id, "f", given, extras);
const thought = (think: string, from: ProviderMemory, kind: "thought" | "text" = "thought"): ContentPart => ({
	...toSeal(from, kind, { signature: "s" }),
	think,
});

function promptOf(messages: readonly HistoryEntry[], systemPrompt = "") {
	return toPrompt(
		{ systemPrompt, tools: [], messages, cacheKey: "k" },
		{ memory, spellCallId: (id) => id.replace(/[^a-z0-9_-]/g, "_") },
	);
}

describe("the prompt", () => {
	it("begins with the system prompt, and marks later system messages", () => {
		const later: HistoryEntry = { role: "system", content: [text("b"), text("c")] };
		expect(promptOf([user(text("a")), later], "Be brief.")).toEqual([
			{ role: "system", content: "Be brief." },
			{ role: "user", content: [{ type: "text", text: "a" }] },
			{ role: "user", content: [{ type: "text", text: "<system>b\nc</system>" }] },
		]);
	});

	it("has no blank text and no empty message", () => {
		expect(promptOf([user(text(" \n")), assistant([text("")]), user(text(""), text("a"))])).toEqual([
			{ role: "user", content: [{ type: "text", text: "a" }] },
		]);
	});

	it("returns provider data to its origin only, in order", () => {
		const message = assistant(
			[
				thought("one", memory),
				thought("", memory),
				text("a"),
				thought("", memory, "text"),
				thought("two", stranger),
				{ type: "think", think: "three", encrypted: "bare signature" },
				{ type: "think", think: "four", encrypted: null },
			],
			[
				call("c1", "{}", { from: "maker:m1", kept: { signature: "u", forged: "x" } }),
				call("c2", "{}", { from: "other:m1", kept: { signature: "v" } }),
			],
		);
		const options = (signature: string) => ({ providerOptions: { maker: { signature } } });
		expect(promptOf([message])).toEqual([
			{
				role: "assistant",
				content: [
					{ type: "reasoning", text: "one", ...options("s") },
					{ type: "reasoning", text: "", ...options("s") },
					{ type: "text", text: "a", ...options("s") },
					{ type: "tool-call", toolCallId: "c1", toolName: "f", input: {}, ...options("u") },
					{ type: "tool-call", toolCallId: "c2", toolName: "f", input: {} },
				],
			},
		]);
	});

	it.each([
		['{"a":1}', { a: 1 }],
		[null, {}],
		["", {}],
		['{"a":', {}],
		["[1]", {}],
	])("has the arguments %j as %j", (given, input) => {
		expect(promptOf([assistant([], [call("c1", given)])])).toMatchObject([{ content: [{ input }] }]);
	});

	it("merges consecutive results into one message, with the names and ids of their calls", () => {
		const messages = [
			assistant([], [call("f:0", "{}"), call("f_0", "{}")]),
			toolResult("f:0", text("a"), text("b")),
			toolResult("f_0", text("c")),
			assistant([], [call("f:0", "{}")]),
			toolResult("f:0", text("d")),
			{ ...toolResult("lost", text("e")), name: "g" },
		];
		const part = (toolCallId: string, value: string, toolName = "f") => ({
			type: "tool-result",
			toolCallId,
			toolName,
			output: { type: "text", value },
		});
		const ask = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "f", input: {} });
		expect(promptOf(messages)).toEqual([
			{ role: "assistant", content: [ask("f_0"), ask("f_0_2")] },
			{ role: "tool", content: [part("f_0", "a\nb"), part("f_0_2", "c")] },
			{ role: "assistant", content: [ask("f_0_3")] },
			{ role: "tool", content: [part("f_0_3", "d"), part("lost", "e", "g")] },
		]);
	});

	it("lists tools as functions", () => {
		const parameters = { type: "object" };
		expect(toFunctionTools([{ name: "f", description: "d", parameters }])).toEqual([
			{ type: "function", name: "f", description: "d", inputSchema: parameters },
		]);
	});
});

describe("media", () => {
	const file = (mediaType: string, data: unknown) => ({ type: "file", mediaType, data });

	it.each([
		["base64 data", image("data:image/png;base64,AAAA"), file("image/png", "AAAA")],
		["an address", video("https://h/a.mp4"), file("video/*", new URL("https://h/a.mp4"))],
	])("are sent to the model from a user: %s", (_name, part, expected) => {
		expect(promptOf([user(part)])).toEqual([{ role: "user", content: [expected] }]);
	});

	it.each([
		["an image", image("data:image/png;base64,AAAA"), { type: "image-data", mediaType: "image/png", data: "AAAA" }],
		["an address", image("https://h/a.png"), { type: "image-url", url: "https://h/a.png" }],
		["a video", video("data:video/mp4;base64,AAAA"), { type: "file-data", mediaType: "video/mp4", data: "AAAA" }],
		["the address of a video", video("https://h/a.mp4"), { type: "file-url", url: "https://h/a.mp4" }],
	])("are sent to the model from a tool: %s", (_name, part, expected) => {
		const value = [{ type: "text", text: "a" }, expected];
		expect(promptOf([toolResult("c1", text("a"), text(" "), part)])).toMatchObject([
			{ role: "tool", content: [{ output: { type: "content", value } }] },
		]);
	});
});

describe("ids of calls", () => {
	it("are never empty and always unique", () => {
		const ids = createCallIds((id) => id.trim());
		expect(["", " ", "a", "a_2", "a"].flatMap((id) => ids.ofCalls([id]))).toEqual([
			"call",
			"call_2",
			"a",
			"a_2",
			"a_3",
		]);
		expect(["a", " ", "b"].map((id) => ids.ofResult(id))).toEqual(["a_3", "call_2", "b"]);
	});

	it("are given to the results in the order of the calls where several of a message have the same", () => {
		const ids = createCallIds((id) => id);
		expect(ids.ofCalls(["a", "b", "a"])).toEqual(["a", "b", "a_2"]);
		expect(["a", "b", "a"].map((id) => ids.ofResult(id))).toEqual(["a", "b", "a_2"]);
		expect(ids.ofCalls(["a"])).toEqual(["a_3"]);
		expect(ids.ofResult("a")).toBe("a_3");
	});
});
