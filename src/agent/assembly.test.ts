import { describe, expect, it } from "vitest";
import { image, piece, text, think, toolCall } from "../../test/support/model-conversation.ts";
import type { ModelPart } from "../models/model.ts";
import { createAssembly } from "./assembly.ts";

const imagePart = image("u");

function assemble(...parts: readonly ModelPart[]) {
	const assembly = createAssembly();
	const completed = parts.map((part) => assembly.push(part)?.id ?? null);
	const last = assembly.end()?.id ?? null;
	return { completed, last, content: assembly.content(), calls: assembly.toolCalls(), isEmpty: assembly.isEmpty() };
}

describe("createAssembly", () => {
	it("merges text with text and thoughts until one is signed", () => {
		expect(
			assemble(think("a"), think("b", "s"), think("c"), text("d"), text("e"), imagePart, text("f")).content,
		).toEqual([think("ab", "s"), think("c"), text("de"), imagePart, text("f")]);
	});

	it("completes a call as soon as something else arrives, the last one at the end", () => {
		const result = assemble(
			toolCall("c1", "A", null),
			piece('{"a":'),
			piece(null),
			piece("1}"),
			toolCall("c2", "B", "{"),
			piece("}"),
		);
		expect(result.completed).toEqual([null, null, null, null, "c1", null]);
		expect(result.last).toBe("c2");
		expect(result.calls).toEqual([toolCall("c1", "A", '{"a":1}'), toolCall("c2", "B", "{}")]);
		expect(assemble(toolCall("c1", "A", "{}"), text("x")).completed).toEqual([null, "c1"]);
	});

	it("drops a part that follows no call", () => {
		const result = assemble(piece("x"), toolCall("c1", "A", "{}"), text("a"), piece("y"), text("b"));
		expect(result.calls).toEqual([toolCall("c1", "A", "{}")]);
		expect(result.content).toEqual([text("ab")]);
	});

	it("ends once", () => {
		const assembly = createAssembly();
		assembly.push(toolCall("c1", "A", "{}"));
		assembly.push(text("a"));
		expect([assembly.end(), assembly.end()]).toEqual([null, null]);
		expect(assembly.content()).toEqual([text("a")]);
	});

	it.each<[string, readonly ModelPart[], boolean]>([
		["nothing", [], true],
		["a stray argument part", [piece("x")], true],
		["thoughts alone", [think("a")], true],
		["thoughts and blank text", [think("a"), text(" \n")], true],
		["an empty text", [text("")], false],
		["thoughts and text", [think("a"), text("b")], false],
		["thoughts and a call", [think("a"), toolCall("c", "A", null)], false],
		["thoughts and an picture", [think("a"), imagePart], false],
	])("says of %s whether it is empty", (_name, parts, isEmpty) => expect(assemble(...parts).isEmpty).toBe(isEmpty));
});
