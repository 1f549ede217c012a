// What is asked at a decision, and how its answer is read.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DecisionNode, decisionPrompt, readChoice } from "./flow.ts";

const node: DecisionNode = {
	kind: "decision",
	text: "Is it right?",
	branches: new Map([
		["yes", "END"],
		["not quite", "again"],
	]),
};

describe("decisionPrompt", () => {
	it("has the text, then the labels, then how to answer", () => {
		const prompt = decisionPrompt(node, false);
		const places = ["Is it right?\n\n", "- yes\n", "- not quite\n", "<choice>LABEL</choice>"].map((part) =>
			prompt.indexOf(part),
		);
		expect(places[0]).toBe(0);
		expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
		expect(prompt).not.toMatch(/undefined|\\|END|again/);
	});

	it("adds a note when the last answer matched no label", () => {
		const hinted = decisionPrompt(node, true);
		expect(hinted.startsWith(`${decisionPrompt(node, false)}\n\n`)).toBe(true);
		expect(hinted.length).toBeGreaterThan(decisionPrompt(node, false).length + 20);
	});

	it("begins with the labels when there is no text", () => {
		expect(`Is it right?\n\n${decisionPrompt({ ...node, text: "" }, false)}`).toBe(decisionPrompt(node, false));
	});
});

describe("readChoice", () => {
	it.each([
		["<choice>yes</choice>", "yes"],
		["It is. <choice> yes\n</choice> Done.", "yes"],
		["<choice>yes</choice> no: <choice>not quite</choice>", "not quite"],
		["<choice>maybe</choice> <choice>yes</choice>", "yes"],
		["<choice>yes</choice> <choice>not finished", "yes"],
		["<choice><choice>yes</choice>", "yes"],
		["<choice>yes</choice></choice>", "yes"],
		["<choice>yes</choice> <choice>maybe</choice>", null],
		["<choice>yes</choice> <choice></choice>", null],
		["<choice>Yes</choice>", null],
		["<choice>yes.</choice>", null],
		["<choice>not  quite</choice>", null],
		["<Choice>yes</Choice>", null],
		["<choice>yes", null],
		["yes</choice>", null],
		["yes", null],
		["", null],
	])("reads %j as %s", (text, expected) => {
		expect(readChoice(text, node.branches.keys())).toBe(expected);
	});

	it("finds the requested label after any other text", () => {
		fc.assert(
			fc.property(fc.string(), (text) => {
				expect(readChoice(`${text}<choice>yes</choice>`, ["yes", "no"])).toBe("yes");
			}),
		);
	});
});
