import { describe, expect, it } from "vitest";
import { fitArguments } from "./fitted-arguments.ts";

const schema = {
	type: "object",
	required: ["path", "must"],
	properties: {
		path: { type: "string" },
		must: { type: ["object", "null"] },
		count: { type: "integer" },
		ratio: { type: "number" },
		force: { type: "boolean" },
		nothing: { anyOf: [{ type: "string" }, { type: "null" }] },
		names: { type: "array", items: { type: "string" } },
		edit: { anyOf: [{ $ref: "#/$defs/edit" }, { type: "array", items: { $ref: "#/$defs/edit" } }] },
		free: {},
		mode: { enum: ["a", "b"] },
	},
	$defs: {
		edit: { type: "object", required: ["old"], properties: { old: { type: "string" }, all: { type: "boolean" } } },
	},
};

describe("fitting arguments", () => {
	it.each([
		["null for an optional argument", { path: "a", count: null }, { path: "a" }],
		["a list as text", { names: '["x","y"]' }, { names: ["x", "y"] }],
		["an object as text", { must: '{"a":1}' }, { must: { a: 1 } }],
		["either form as text", { edit: '{"old":"x","all":null}' }, { edit: { old: "x" } }],
		["a list of objects as text", { edit: '[{"old":"x"}]' }, { edit: [{ old: "x" }] }],
		["objects as text within a list", { edit: ['{"old":"x"}'] }, { edit: [{ old: "x" }] }],
		["null within a member", { edit: { old: "x", all: null } }, { edit: { old: "x" } }],
		["numbers as text", { count: "5", ratio: "5" }, { count: 5, ratio: 5 }],
		["a boolean as text", { force: "true" }, { force: true }],
		["all arguments as text", '{"path":"a","count":null}', { path: "a" }],
	])("takes %s", (_name, given, fitted) => expect(fitArguments(given, schema)).toEqual(fitted));

	it.each([
		["text that looks like JSON where text is meant", { path: "[1]", free: "[1]", mode: "5" }],
		["null where the schema takes it, or requires the argument", { nothing: null, must: null, path: null }],
		["null that the schema says nothing about", { free: null, unknown: null }],
		["text of another type", { names: '{"a":1}', count: "[]", force: "5", edit: "no" }],
		["a fraction for an integer", { count: "1.5" }],
	])("leaves %s", (_name, given) => expect(fitArguments(given, schema)).toBe(given));

	it("leaves everything where the schema says nothing", () => {
		const given = { a: "[1]", b: null };
		expect([fitArguments(given, {}), fitArguments(given, { type: "object" })]).toEqual([given, given]);
	});

	it("ends in a schema that refers to itself", () => {
		const endless = { $ref: "#" };
		expect(fitArguments("[1]", endless)).toBe("[1]");
	});
});
