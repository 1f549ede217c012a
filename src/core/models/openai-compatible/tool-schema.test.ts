import { describe, expect, it } from "vitest";
import { fillTypes } from "./tool-schema.ts";

describe("filling in types", () => {
	it.each<[Record<string, unknown>, string]>([
		[{}, "string"],
		[{ description: "any" }, "string"],
		[{ properties: {} }, "object"],
		[{ required: ["a"] }, "object"],
		[{ items: { type: "string" } }, "array"],
		[{ minimum: 1 }, "number"],
		[{ enum: ["a", "b"] }, "string"],
		[{ enum: [1, 2] }, "integer"],
		[{ const: true }, "boolean"],
		[{ enum: [1, "a"] }, "string"],
	])("gives %j the type %s", (schema, type) => {
		expect(fillTypes(schema)).toEqual({ type, ...schema });
	});

	it.each([
		{ type: ["string", "null"] },
		{ $ref: "#/$defs/a" },
		{ type: "object", properties: { type: { type: "string" } } },
	])("leaves %j unchanged", (schema) => {
		expect(fillTypes(schema)).toEqual(schema);
	});

	it("visits every nested schema and nothing else", () => {
		expect(
			fillTypes({
				type: "object",
				properties: { properties: { default: {}, items: {} }, choice: { anyOf: [{ enum: [1] }, { type: "null" }] } },
				additionalProperties: { minimum: 1 },
				$defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } },
			}),
		).toEqual({
			type: "object",
			properties: {
				properties: { type: "array", default: {}, items: { type: "string" } },
				choice: { anyOf: [{ type: "integer", enum: [1] }, { type: "null" }] },
			},
			additionalProperties: { type: "number", minimum: 1 },
			$defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
		});
	});
});
