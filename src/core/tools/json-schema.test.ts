import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../api/session-options.ts";
import { compileJsonSchema } from "./json-schema.ts";

async function check(schema: JsonSchema, value: unknown): Promise<string | null> {
	const compiled = await compileJsonSchema(schema);
	return compiled.ok ? await compiled.check(value) : `refused: ${compiled.reason}`;
}

const pair = { prefixItems: [{ type: "string" }] };
const oldPair = { items: [{ type: "string" }] };

describe("a schema", () => {
	it.each([
		["no draft", undefined, pair],
		["the newest draft", "https://json-schema.org/draft/2020-12/schema", pair],
		["an unknown draft", "https://example.com/schema", pair],
		["draft 7", "http://json-schema.org/draft-07/schema#", oldPair],
		["draft 7 without its hash", "http://json-schema.org/draft-07/schema", oldPair],
		["draft 6", "http://json-schema.org/draft-06/schema#", oldPair],
		["draft 4", "http://json-schema.org/draft-04/schema#", oldPair],
	])("is checked as %s specifies", async (_, $schema, schema) => {
		const named = $schema === undefined ? schema : { $schema, ...schema };
		expect(await check(named, ["a"])).toBeNull();
		expect(await check(named, [1])).toBe("arguments/0 must be string");
	});

	it("can refer to its own parts, as in any draft", async () => {
		const properties = { a: { $ref: "#/definitions/word" } };
		const schema = { type: "object", properties, definitions: { word: { type: "string" } } };
		expect(await check(schema, { a: 1 })).toBe("arguments/a must be string");
		expect(await check({ $schema: "http://json-schema.org/draft-07/schema#", ...schema }, { a: 1 })).toBe(
			"arguments/a must be string",
		);
	});

	it.each([
		[{ type: "nonsense" }],
		[{ $schema: "http://json-schema.org/draft-07/schema#", type: "nonsense" }],
		[{ $ref: "#/none" }],
	])("that is invalid is refused: %j", async (schema) => {
		expect(await check(schema, {})).toMatch(/^refused: /);
	});
});
