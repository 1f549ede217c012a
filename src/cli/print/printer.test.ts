import { describe, expect, it } from "vitest";
import type { TurnOutcome } from "../../api/values/event.ts";
import { onOneLine, quoted, withEscapes, withoutControls } from "../printable-text.ts";
import { toFailure } from "./printer.ts";

type Failed = Extract<TurnOutcome, { status: "failed" }>["error"];
const failed = (error: Partial<Failed>): TurnOutcome => ({
	status: "failed",
	error: { code: "provider-failed", message: "m", data: null, ...error },
});

describe("toFailure", () => {
	it("is null for a finished turn", () => expect(toFailure({ status: "finished" })).toBeNull());

	it.each<[TurnOutcome, string, number]>([
		[{ status: "cancelled" }, "Interrupted by user", 1],
		[{ status: "max-steps", limit: "steps", steps: 3 }, "Max number of steps reached: 3", 1],
		[failed({}), "m", 1],
		[failed({ retryable: false }), "m", 1],
		[failed({ retryable: true }), "m", 75],
		[failed({ code: "model-not-set", message: "LLM is not set" }), "LLM not set", 1],
		[failed({ code: "storage-failed" }), "m", 1],
		[failed({ code: "budget-exhausted" }), "m", 1],
	])("of %j begins as in kimi, and has an exit code", (outcome, start, exitCode) => {
		const failure = toFailure(outcome);
		expect(failure?.message.startsWith(start)).toBe(true);
		expect(failure?.exitCode).toBe(exitCode);
	});

	it.each([
		["steps", /reached: 3\. .*--max-steps-per-turn/, "ralph"],
		["loop", /reached: 3\. .*repetition limit.*--max-ralph-iterations/, "--max-steps-per-turn"],
		["flow", /reached: 3\. .*flow/, "--max"],
	] as const)("says how many steps there were, and which limit was reached: %s", (limit, expected, unsaid) => {
		const message = toFailure({ status: "max-steps", limit, steps: 3 })?.message;
		expect(message).toMatch(expected);
		expect(message).not.toContain(unsaid);
	});

	it("names the missing model", () => {
		const unset = { code: "model-not-set", message: "LLM is not set" } as const;
		const named = failed({ ...unset, data: { model: "k" } });
		expect(toFailure(named, ["k3", "k4"])?.message).toBe(
			'LLM not set: the settings do not have the model "k", but these: k3, k4',
		);
		expect(toFailure(named, ["k"])?.message).toBe(
			'LLM not set: the model "k" has no name, or its provider no base_url, in the settings',
		);
		for (const outcome of [named, failed(unset)]) {
			const { message } = toFailure(outcome) ?? {};
			expect(message).toMatch(/^LLM not set: .*ANTHROPIC_API_KEY.*`agentwire setup`.*`--model scripted`\.$/);
		}
	});
});

describe("withoutControls", () => {
	it.each([
		["a\tb\r\nc", "a\tb\r\nc"],
		["\u001b[31mred\u001b[0m", "[31mred[0m"],
		["a\u0000\u0007\u007f\u009bb", "ab"],
		["naïve 日本 🙂", "naïve 日本 🙂"],
	])("%j becomes %j", (text, expected) => expect(withoutControls(text)).toBe(expected));
});

describe("quoted", () => {
	it.each([
		["a\n", 2, '"a\\n"'],
		["abc", 2, '"a…"'],
		["🙂🙂", 2, '"…"'],
		["🙂🙂", 3, '"🙂…"'],
	])("%j within %i", (text, limit, expected) => expect(quoted(text, limit)).toBe(expected));
});

describe("onOneLine", () => {
	it.each([
		["  a\n\n b\t\u001bc ", 10, "a b c"],
		["abcdef", 6, "abcdef"],
		["abcdefg", 6, "abcde…"],
		["🙂🙂🙂", 2, "🙂…"],
		[`${" ".repeat(9)}a`, 1, ""],
		[`x🙂🙂${" ".repeat(18)}🙂`, 3, "x🙂🙂"],
		["", 5, ""],
	])("%j within %i", (text, limit, expected) => expect(onOneLine(text, limit)).toBe(expected));

	it("does not read all of a long text", () => {
		expect(onOneLine("x".repeat(10_000_000), 5)).toBe("xxxx…");
	});
});

it("writes what a terminal would obey or not show as escapes", () => {
	expect(withEscapes("a\u001b[2K\r\n\u202eb\u200b\u0085 é")).toBe(
		"a\\u{1b}[2K\\u{d}\\u{a}\\u{202e}b\\u{200b}\\u{85} é",
	);
});
