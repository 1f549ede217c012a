// The expected text is what Python prints for the same objects: pydantic's classes by `rich.print`, cut at any character.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type EventBody, statusChanged } from "../../events/event.ts";
import { createReprPrinter } from "./print-repr.ts";
import { floatText, quote } from "./python-text.ts";

const expected = readFileSync(new URL("../../../test/fixtures/print-repr.txt", import.meta.url), "utf8");

const bodies: readonly EventBody[] = [
	{ type: "turn.started", input: "hi there" },
	{ type: "step.started", n: 1 },
	{ type: "content.delta", part: { type: "text", text: "not twice" } },
	{
		type: "content.completed",
		part: {
			type: "think",
			think: `It's a "long" thought that goes on and on until the line is much too long for eighty columns of a terminal, really.        end`,
			encrypted: null,
		},
	},
	{
		type: "content.completed",
		part: { type: "text", text: "naïve 中文字 😀 tab\tnewline\nnul\x00 nbsp\u00a0 zw\u200b" },
	},
	{
		type: "tool.requested",
		call: {
			type: "function",
			id: "call-1",
			function: { name: "Shell", arguments: '{"command":"echo one; echo two"}' },
			extras: null,
		},
	},
	statusChanged({
		context_usage: 0.00005,
		context_tokens: 5,
		max_context_tokens: 100_000,
		token_usage: { input_other: 4, output: 1, input_cache_read: 0, input_cache_creation: 0 },
		message_id: "m",
		plan_mode: false,
	}),
	{
		type: "tool.result",
		toolCallId: "call-1",
		result: {
			is_error: false,
			output: "one\ntwo\n",
			message: "Command executed successfully.",
			display: [],
			extras: null,
		},
	},
	{ type: "content.completed", part: { type: "text", text: "中".repeat(90) } },
	statusChanged({ context_usage: 0 }),
	{ type: "turn.ended", outcome: { status: "finished" } },
];

describe("createReprPrinter", () => {
	it("prints what kimi-cli prints", () => {
		let written = "";
		const printer = createReprPrinter((text) => {
			written += text;
		});
		for (const body of bodies) printer.take({ sessionId: "s", turnId: "t", agentPath: [], at: 0, body });
		expect(written).toBe(expected);
	});

	it("prints the answer to a side question, and the reason of a failure, as they are", () => {
		const written: string[] = [];
		const printer = createReprPrinter((text) => written.push(text));
		const body = { type: "side-question.ended", id: "b", response: "It is 'so'.", error: null } as const;
		printer.take({ sessionId: "s", turnId: "t", agentPath: [], at: 0, body });
		printer.fail({ message: "LLM not set: no", code: "model-not-set", status: "failed", exitCode: 1 });
		expect(written).toEqual(["It is 'so'.\n", "LLM not set: no\n"]);
	});
});

describe("single values of Python", () => {
	it.each([
		["it's", `"it's"`],
		[`it's "so"`, `'it\\'s "so"'`],
		["a\\b", "'a\\\\b'"],
		["\u001b[31m", "'\\x1b[31m'"],
		["\u{e0001}", "'\\U000e0001'"],
	])("%j", (text, shown) => {
		expect(quote(text)).toBe(shown);
	});

	it.each([
		[1, "1.0"],
		[0, "0.0"],
		[0.0374603271484375, "0.0374603271484375"],
		[0.00001234, "1.234e-05"],
		[1e21, "1e+21"],
	])("%j", (value, shown) => {
		expect(floatText(value)).toBe(shown);
	});
});
