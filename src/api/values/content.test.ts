import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { contentPartSchema, displayBlockSchema, inputText, toolReturnSchema, userInputSchema } from "./content.ts";

const read = (schema: v.GenericSchema, value: unknown) => {
	const parsed = v.safeParse(schema, value);
	return parsed.success ? parsed.output : "refused";
};

describe("content parts", () => {
	it("drops unknown keys and adds nullable ones", () => {
		expect(read(contentPartSchema, { type: "think", think: "a", more: 1 })).toEqual({
			type: "think",
			think: "a",
			encrypted: null,
		});
		expect(read(contentPartSchema, { type: "image_url", image_url: { url: "u", detail: "low" } })).toEqual({
			type: "image_url",
			image_url: { url: "u", id: null },
		});
	});

	it.each([
		[{ type: "file", file: {} }],
		[{ type: "text" }],
		[{ type: "text", text: 5 }],
		[{ type: "image_url", image_url: "u" }],
		[{ text: "a" }],
		["text"],
		[null],
	])("refuses %j", (part) => expect(read(contentPartSchema, part)).toBe("refused"));

	it("distinguishes strings from lists, empty ones too", () => {
		expect([read(userInputSchema, ""), read(userInputSchema, [])]).toEqual(["", []]);
		expect(read(userInputSchema, [{ type: "nothing" }])).toBe("refused");
		expect(read(userInputSchema, { type: "text", text: "a" })).toBe("refused");
	});

	it("joins the text of an input with a space and trims it", () => {
		const text = (value: string) => ({ type: "text", text: value }) as const;
		expect(inputText("  /help \n")).toBe("/help");
		expect(inputText([text(" a"), { type: "image_url", image_url: { url: "u", id: null } }, text("b ")])).toBe("a b");
		expect(inputText([])).toBe("");
	});
});

describe("display blocks", () => {
	it("fills in the fields that old diffs lack", () => {
		expect(read(displayBlockSchema, { type: "diff", path: "p", old_text: "a", new_text: "b" })).toEqual({
			type: "diff",
			path: "p",
			old_text: "a",
			new_text: "b",
			old_start: 1,
			new_start: 1,
			is_summary: false,
		});
	});

	it("stores all other keys of an unknown block under data, and leaves that form unchanged", () => {
		const read1 = read(displayBlockSchema, { type: "chart", points: [1], title: "t" });
		expect(read1).toEqual({ type: "chart", data: { points: [1], title: "t" } });
		expect(read(displayBlockSchema, read1)).toEqual(read1);
	});

	it("does not treat an invalid known block as an unknown one", () => {
		expect(read(displayBlockSchema, { type: "brief" })).toBe("refused");
		expect(read(displayBlockSchema, { text: "a" })).toBe("refused");
	});
});

describe("tool returns", () => {
	it("requires all fields but extras", () => {
		const value = { is_error: false, output: "x", message: "", display: [] };
		expect(read(toolReturnSchema, value)).toEqual({ ...value, extras: null });
		for (const key of Object.keys(value)) {
			const { [key]: _, ...rest } = value as Record<string, unknown>;
			expect(read(toolReturnSchema, rest)).toBe("refused");
		}
		expect(read(toolReturnSchema, { ...value, output: [{ type: "nothing" }] })).toBe("refused");
	});
});
