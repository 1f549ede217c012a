import { describe, expect, it } from "vitest";
import { image, piece, text, think, toolCall } from "../../../test/support/models/model-conversation.ts";
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
	it("merges text with text, and reasoning until a part is signed", () => {
		expect(
			assemble(think("a"), think("b", "s"), think("c"), text("d"), text("e"), imagePart, text("f")).content,
		).toEqual([think("ab", "s"), think("c"), text("de"), imagePart, text("f")]);
	});

	it("completes a call when another part arrives, and the last call at the end", () => {
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

	it("drops an argument part that follows no call", () => {
		const result = assemble(piece("x"), toolCall("c1", "A", "{}"), text("a"), piece("y"), text("b"));
		expect(result.calls).toEqual([toolCall("c1", "A", "{}")]);
		expect(result.content).toEqual([text("ab")]);
	});

	it("completes once", () => {
		const assembly = createAssembly();
		assembly.push(toolCall("c1", "A", "{}"));
		assembly.push(text("a"));
		expect([assembly.end(), assembly.end()]).toEqual([null, null]);
		expect(assembly.content()).toEqual([text("a")]);
	});

	it.each<[string, readonly ModelPart[], boolean]>([
		["nothing", [], true],
		["a stray argument part", [piece("x")], true],
		["reasoning alone", [think("a")], true],
		["reasoning and blank text", [think("a"), text(" \n")], true],
		["an empty text", [text("")], false],
		["reasoning and text", [think("a"), text("b")], false],
		["reasoning and a call", [think("a"), toolCall("c", "A", null)], false],
		["reasoning and an image", [think("a"), imagePart], false],
	])("reports whether %s is empty", (_name, parts, isEmpty) => expect(assemble(...parts).isEmpty).toBe(isEmpty));
});
