import { describe, expect, it } from "vitest";
import type { Line } from "../../base/text/lines.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { readMessage, readMessages, readPrompt } from "./print-input.ts";

describe("readPrompt", () => {
	const refuse = () => Promise.reject(new Error("not to be read"));

	it("uses the argument and leaves stdin alone", async () => {
		expect(await readPrompt("do it", false, refuse)).toBe("do it");
		expect(await readPrompt("do it", true, refuse)).toBe("do it");
	});

	it("reads all of stdin as one prompt", async () => {
		expect(await readPrompt(null, false, async () => "  first\nsecond\n\n")).toBe("first\nsecond");
	});

	it.each(["", " \n\t"])("finds no prompt in %j", async (text) => {
		expect(await readPrompt(null, false, async () => text)).toBeNull();
	});

	it.each([
		["a terminal", true, refuse, /--prompt.*stdin/],
		["a stdin that cannot be read", false, refuse, /cannot be read: not to be read/],
	])("refuses %s", async (_name, isTerminal, read, said) => {
		const refusal = await readPrompt(null, isTerminal, read).catch((thrown: unknown) => thrown);
		expect(refusal).toBeInstanceOf(UsageError);
		expect(refusal).toMatchObject({ message: expect.stringMatching(said) });
	});
});

describe("readMessage", () => {
	it.each([
		['{"role":"user","content":"hi"}', "hi"],
		['{"role":"user","content":" hi ","name":"x"}', " hi "],
		['{"role":"user","content":[{"type":"text","text":"hi"}]}', [{ type: "text", text: "hi" }]],
	])("accepts %s", (line, input) => expect(readMessage(line)).toEqual({ input }));

	it.each([
		["hello", /not JSON/],
		['{"role":"user","content":"hi"', /not JSON/],
		['"hi"', /not a message/],
		["[]", /not a message/],
		['{"content":"hi"}', /not a message/],
		['{"role":"assistant","content":"hi"}', /role is "assistant"/],
		['{"role":"user"}', /./],
		['{"role":"user","content":5}', /neither a text nor a list/],
		['{"role":"user","content":[{"type":"text"}]}', /neither a text nor a list/],
		['{"role":"user","content":" "}', /empty/],
		['{"role":"user","content":[]}', /empty/],
	])("reports why it does not accept %s", (line, why) => {
		expect(readMessage(line)).toEqual({ problem: expect.stringMatching(why) });
	});
});

describe("readMessages", () => {
	it("returns the user's messages in order and reports the others", async () => {
		async function* lines(): AsyncGenerator<Line> {
			yield { kind: "line", text: '{"role":"user","content":"one"}' };
			yield { kind: "line", text: " " };
			yield { kind: "line", text: "nonsense" };
			yield { kind: "oversized" };
			yield { kind: "line", text: '{"role":"user","content":"two"}\r' };
		}
		const complaints: string[] = [];
		const inputs: unknown[] = [];
		for await (const input of readMessages(lines(), (line) => complaints.push(line))) inputs.push(input);
		expect(inputs).toEqual(["one", "two"]);
		expect(complaints).toEqual([
			"Line 3 of the input is skipped: it is not JSON.",
			"Line 4 of the input is skipped: it is too long.",
		]);
	});
});
