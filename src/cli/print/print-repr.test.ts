// The expected text is what Python prints for the same objects: pydantic's classes by `rich.print`, cut at any character.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ToolReturn, toolSuccess } from "../../api/values/content.ts";
import { type EventBody, statusChanged } from "../../api/values/event.ts";
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

/** What one call of a tool and its result are printed as, without the call. */
function printedResult(tool: string, result: Partial<ToolReturn>): string {
	let text = "";
	const printer = createReprPrinter((piece) => {
		text += piece;
	});
	const origin = { sessionId: "s", turnId: "t", agentPath: [], at: 0 };
	const call = { type: "function", id: "c", function: { name: tool, arguments: "{}" }, extras: null } as const;
	printer.take({ ...origin, body: { type: "tool.requested", call } });
	text = "";
	const whole = { ...toolSuccess(result), is_error: result.is_error === true };
	printer.take({ ...origin, body: { type: "tool.result", toolCallId: "c", result: whole } });
	return text;
}

describe("the class of a result", () => {
	it.each([
		["Shell", {}, "ToolReturnValue"],
		["WriteFile", {}, "ToolReturnValue"],
		["Glob", {}, "ToolOk"],
		["ReadFile", {}, "ToolOk"],
		["a tool of a server", {}, "ToolOk"],
		["Shell", { is_error: true, message: "Failed with exit code: 3" }, "ToolReturnValue"],
		["ReadFile", { is_error: true, message: "`x` does not exist." }, "ToolError"],
		["ReadFile", { is_error: true, message: "Error parsing JSON arguments: x" }, "ToolParseError"],
		["ReadFile", { is_error: true, message: "Error validating JSON arguments: x" }, "ToolValidateError"],
		["Shell", { is_error: true, message: "Error running tool: x" }, "ToolRuntimeError"],
		["Nope", { is_error: true, message: "Tool `Nope` not found" }, "ToolNotFoundError"],
	])("of %s with %j is %s", (tool, result, name) => {
		expect(printedResult(tool, result)).toContain(`    return_value=${name}(`);
	});

	it("of a rejected call says whether there is feedback", () => {
		const message = "The tool call is rejected by the user.";
		expect(printedResult("Shell", { is_error: true, message })).toMatch(
			/ToolRejectedError\([\s\S]*extras=None,\s+has_feedback=False\s/,
		);
		expect(printedResult("Shell", { is_error: true, message: `${message} User feedback: no` })).toContain(
			"has_feedback=True",
		);
	});

	it("leaves room for a comma and a blank behind what is within it", () => {
		const display = [{ type: "brief", text: "Failed with exit code: 3\nno" }] as const;
		// 78 columns would be enough for it.
		expect(printedResult("Shell", { is_error: true, output: "no\n", message: "m", display: [...display] })).toContain(
			"            BriefDisplayBlock(\n                type='brief',\n                text='Failed with exit code: 3\\nno'\n            )\n",
		);
	});
});

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
