import { describe, expect, it } from "vitest";
import { describeModelContract } from "../../../../test/contracts/model-contract.ts";
import { collectChunks, plainRequest } from "../../../../test/support/models/model-conversation.ts";
import type { Model, ModelChunk } from "../model.ts";
import { createEchoModel } from "./echo.ts";
import { createScriptedEchoModel, type ScriptedEchoModel } from "./scripted-echo.ts";

const long = Array.from({ length: 20_000 }, (_, index) => `text: ${index}`).join("\n");
const scenarios = {
	answers: "text: a\ntool_call: id=c1 name=Shell\ntool_call_part: {\ntool_call_part: }",
	fails: "error: 500",
	long,
};

describeModelContract("scripted echo", async (scenario) => {
	const trace: string[] = [];
	const model = createScriptedEchoModel({
		scripts: [scenarios[scenario]],
		maxContextSize: 1000,
		capabilities: new Set(),
		trace: (line) => trace.push(line),
	});
	return { model, requestsSeen: () => trace.length, close: async () => {} };
});

function scripted(...scripts: string[]): ScriptedEchoModel {
	return createScriptedEchoModel({ scripts, maxContextSize: 1000, capabilities: new Set(["thinking"]), trace: null });
}

function ask(model: Model): Promise<ModelChunk[]> {
	return collectChunks(model.stream(plainRequest, new AbortController().signal));
}

const answer = (text: string): ModelChunk[] => [
	{ type: "parts", parts: [{ type: "text", text }] },
	{ type: "done", usage: null, messageId: null },
];
const exhausted = (turn: number): ModelChunk[] => [
	{
		type: "failed",
		failure: {
			kind: "provider",
			message: `ScriptedEchoChatProvider exhausted at turn ${turn}.`,
			statusCode: null,
			retryAfter: null,
		},
	},
];

describe("scripted echo", () => {
	it("has the name scripted_echo, and the configured window and capabilities", () => {
		expect(scripted()).toMatchObject({
			name: "scripted_echo",
			maxContextSize: 1000,
			capabilities: new Set(["thinking"]),
		});
	});

	it("uses one script for each request, and is then exhausted permanently", async () => {
		const model = scripted("text: a", "text: b");
		expect(await ask(model)).toEqual(answer("a"));
		expect(await ask(model)).toEqual(answer("b"));
		expect(await ask(model)).toEqual(exhausted(3));
		expect(await ask(model)).toEqual(exhausted(3));
	});

	it("is exhausted at once without scripts", async () => {
		expect(await ask(scripted())).toEqual(exhausted(1));
	});

	it("consumes a script that fails", async () => {
		const model = scripted("nonsense", "error: 429", "text: c");
		expect(await ask(model)).toMatchObject([{ type: "failed", failure: { kind: "provider" } }]);
		expect(await ask(model)).toMatchObject([{ type: "failed", failure: { kind: "status", statusCode: 429 } }]);
		expect(await ask(model)).toEqual(answer("c"));
	});

	it("shares one queue between concurrent requests", async () => {
		const model = scripted("text: a", "text: b");
		expect(await Promise.all([ask(model), ask(model)])).toEqual([answer("a"), answer("b")]);
	});

	it("copies the remaining queue and the counter", async () => {
		const model = scripted("text: a", "text: b");
		await ask(model);
		const copy = model.copy();
		expect(await ask(copy)).toEqual(answer("b"));
		expect(await ask(copy)).toEqual(exhausted(3));
		expect(await ask(model)).toEqual(answer("b"));
	});

	it("streams a long script in batches, then its usage and id", async () => {
		const chunks = await ask(scripted(`id: m1\nusage: input_other=1 output=2\n${long}`));
		const sizes = chunks.map((chunk) => (chunk.type === "parts" ? chunk.parts.length : 0));
		expect(sizes.reduce((sum, size) => sum + size)).toBe(20_000);
		expect(Math.max(...sizes)).toBe(64);
		expect(chunks.at(-1)).toEqual({
			type: "done",
			usage: { input_other: 1, output: 2, input_cache_read: 0, input_cache_creation: 0 },
			messageId: "m1",
		});
	});

	it("does not report empty answers", async () => {
		expect(await ask(scripted("text:"))).toEqual(answer(""));
		expect(await ask(scripted("think: only"))).toHaveLength(2);
	});

	it("traces each script as JSON on one line, also one that fails", async () => {
		const trace: string[] = [];
		const model = createScriptedEchoModel({
			scripts: ['text: "a"\n# \u2028', "nonsense"],
			maxContextSize: 1,
			capabilities: new Set(),
			trace: (line) => trace.push(line),
		});
		await ask(model);
		await ask(model);
		await ask(model);
		expect(trace).toEqual(['SCRIPTED_ECHO TURN 1: "text: \\"a\\"\\n# \\u2028"', 'SCRIPTED_ECHO TURN 2: "nonsense"']);
	});
});

describe("echo", () => {
	const model = createEchoModel({ maxContextSize: 1000, capabilities: new Set() });
	const signal = new AbortController().signal;

	it("runs the script of the last message, with parts on lines of their own", async () => {
		const messages = [
			{
				role: "user" as const,
				content: [
					{ type: "text" as const, text: "echo\nid: m1" },
					{ type: "text" as const, text: "text: hi" },
				],
			},
		];
		expect(await collectChunks(model.stream({ ...plainRequest, messages }, signal))).toEqual([
			{ type: "parts", parts: [{ type: "text", text: "hi" }] },
			{ type: "done", usage: null, messageId: "m1" },
		]);
	});

	it.each([
		[[]],
		[[{ role: "tool" as const, content: [{ type: "text" as const, text: "text: hi" }], toolCallId: "c1" }]],
	])("fails when the last message is not the user's", async (messages) => {
		expect(await collectChunks(model.stream({ ...plainRequest, messages }, signal))).toEqual([
			{
				type: "failed",
				failure: {
					kind: "provider",
					message: "The echo model needs a last message that is the user's.",
					statusCode: null,
					retryAfter: null,
				},
			},
		]);
	});
});
