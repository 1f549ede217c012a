import { describe, expect, it } from "vitest";
import { withAcceptedParameters } from "./tool-parameters.ts";

type Schema = Readonly<Record<string, unknown>>;
const send = (parameters: Schema) => withAcceptedParameters({ name: "t", description: "A tool.", parameters });
const word = { type: "string" };

describe("parameters of a tool", () => {
	it.each<[string, Schema]>([
		["plain ones", { type: "object", properties: { a: word }, required: ["a"], additionalProperties: false }],
		[
			"nested ones",
			{
				type: "object",
				properties: {
					a: { anyOf: [word, { type: "null" }] },
					b: { type: ["array", "null"], items: { $ref: "#/$defs/c" } },
				},
				$defs: { c: { type: "object", properties: {}, enum: [{}] } },
			},
		],
	])("are sent as they are: %s", (_name, parameters) => {
		const tool = { name: "t", description: "A tool.", parameters };
		expect(withAcceptedParameters(tool)).toBe(tool);
	});

	it.each<[string, Schema, Schema]>([
		["no properties", { type: "object" }, { type: "object", properties: {} }],
		["properties that are a list", { type: "object", properties: [] }, { type: "object", properties: {} }],
		["several types at the root", { type: ["object", "null"], properties: {} }, { type: "object", properties: {} }],
		[
			"a dialect",
			{ $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: {} },
			{ type: "object", properties: {} },
		],
	])("are one object with properties: %s", (_name, given, sent) => {
		expect(send(given)).toEqual({ name: "t", description: "A tool.", parameters: sent });
	});

	it.each<[string, Schema, Schema]>([
		["a list of anything", { type: "array" }, { type: "array", items: {} }],
		["a list, or none, of anything", { type: ["array", "null"] }, { type: ["array", "null"], items: {} }],
		[
			"a schema for each position",
			{ type: "array", items: [word, { type: "any" }] },
			{ type: "array", items: { anyOf: [word, {}] } },
		],
		["no schema for any position", { type: "array", items: [] }, { type: "array", items: {} }],
		["a type that there is not", { type: "any", title: "A" }, { title: "A" }],
		["types of which some are none", { type: ["string", "any"] }, { type: ["string"] }],
		["a mark at the property itself", { ...word, required: true }, word],
		[
			"a limit of an older draft",
			{ type: "number", minimum: 1, exclusiveMinimum: true },
			{ type: "number", minimum: 1 },
		],
		["a description that is none", { ...word, description: null }, word],
		["no choice", { ...word, enum: [] }, word],
	])("are those of a strict schema: %s", (_name, given, sent) => {
		for (const wrap of [
			(schema: Schema) => ({ type: "object", properties: { a: schema } }),
			(schema: Schema) => ({ type: "object", properties: { a: { type: "array", items: { anyOf: [schema] } } } }),
			(schema: Schema) => ({ type: "object", properties: {}, $defs: { a: schema } }),
		]) {
			expect(send(wrap(given))).toEqual({ name: "t", description: "A tool.", parameters: wrap(sent) });
		}
	});

	it("have their combinations in the description, where providers accept none at the root", () => {
		const anyOf = [{ required: ["a"] }, { required: ["b"] }];
		const { parameters, description } = send({ type: "object", properties: { a: word, b: word }, anyOf });
		expect(parameters).toEqual({ type: "object", properties: { a: word, b: word } });
		expect(description).toBe(`A tool.\n\nThe arguments must match this JSON Schema, too: ${JSON.stringify({ anyOf })}`);
		expect(send({ type: "object", properties: {}, enum: ["x".repeat(5000)] }).description).toBe("A tool.");
	});

	it("are mended once for each tool", () => {
		const parameters = { type: "object" };
		expect(send(parameters).parameters).toBe(send(parameters).parameters);
	});
});
