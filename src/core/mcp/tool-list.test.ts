import { describe, expect, it } from "vitest";
import { passes, readTool } from "./tool-list.ts";

describe("a listed tool", () => {
	it("is parsed completely", () => {
		const inputSchema = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: {} };
		expect(readTool({ name: "a-b_c.d/e", description: "Does it.", inputSchema, annotations: {} })).toEqual({
			ok: true,
			tool: { name: "a-b_c.d/e", description: "Does it.", parameters: inputSchema, tags: [] },
		});
	});

	it.each<[string, object, object]>([
		["no description", {}, { description: "" }],
		["a title instead of a description", { title: "T" }, { description: "T" }],
		[
			"no type of its parameters",
			{ inputSchema: { properties: {} } },
			{ parameters: { type: "object", properties: {} } },
		],
		["no parameters", { inputSchema: undefined }, { parameters: { type: "object" } }],
		["tags", { _meta: { fastmcp: { tags: ["x"] } } }, { tags: ["x"] }],
		["tags under the old key", { _meta: { _fastmcp: { tags: ["x"] } } }, { tags: ["x"] }],
		["other annotations", { _meta: { fastmcp: 3 } }, { tags: [] }],
	])("may have %s", (_, more, expected) => {
		const read = readTool({ name: "t", inputSchema: { type: "object" }, ...more });
		expect(read).toMatchObject({ ok: true, tool: expected });
	});

	it.each<[unknown, string, RegExp]>([
		[7, "", /Expected Object/],
		[{}, "", /name/],
		[{ name: "" }, "", /models cannot call it/],
		[{ name: "a b" }, "a b", /models cannot call it/],
		[{ name: "x".repeat(129) }, "x".repeat(128), /models cannot call it/],
		[{ name: "t", description: 1 }, "t", /description/],
		[{ name: "t", inputSchema: [] }, "t", /not "object"|not a JSON Schema/],
		[{ name: "t", inputSchema: { type: "string" } }, "t", /not "object"/],
	])("is refused with the fault: %j", (value, name, reason) => {
		expect(readTool(value)).toEqual({ ok: false, name, reason: expect.stringMatching(reason) });
	});
});

describe("a filter", () => {
	const all = { names: null, hidden: [], includeTags: null, excludeTags: [] };
	const tool = { name: "t", description: "", parameters: {}, tags: ["x", "y"] };

	it.each([
		[{}, true],
		[{ names: ["t"] }, true],
		[{ names: ["u"] }, false],
		[{ names: [] }, false],
		[{ hidden: ["t"] }, false],
		[{ names: ["t"], hidden: ["t"] }, false],
		[{ includeTags: ["y", "z"] }, true],
		[{ includeTags: ["z"] }, false],
		[{ excludeTags: ["x"] }, false],
		[{ includeTags: ["x"], excludeTags: ["y"] }, false],
	])("%j admits a tool: %s", (filter, expected) => {
		expect(passes({ ...all, ...filter }, tool)).toBe(expected);
	});
});
