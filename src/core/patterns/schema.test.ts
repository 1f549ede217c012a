import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { compileSchema } from "./schema.ts";
import type { Draft } from "./schema-shapes.ts";

async function check(schema: unknown, value: unknown, draft: Draft = "newest"): Promise<string | null> {
	const compiled = await compileSchema(schema, draft, "arguments");
	return compiled.ok ? await compiled.check(value) : `refused: ${compiled.reason}`;
}

/** Each definition of `$defs` refers twice to the next one. */
function doubled(depth: number): object {
	const $defs: Record<string, object> = { [`d${depth}`]: { type: "string" } };
	for (let index = 0; index < depth; index += 1) {
		const next = { $ref: `#/$defs/d${index + 1}` };
		$defs[`d${index}`] = { anyOf: [next, next] };
	}
	return { $ref: "#/$defs/d0", $defs };
}

const nested = (depth: number): unknown => Array.from({ length: depth }).reduce<unknown>((value) => [value], 1);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const wide = Object.fromEntries(numbers(20_000).map((index) => [`k${index}`, index]));
const extremelyWide = Object.fromEntries(numbers(100_000).map((index) => [`k${index}`, index]));
const tooManySteps =
	"the arguments cannot be checked: it takes more than 200,000 steps to compare them with the schema";
const tooMuchSearching =
	"the arguments cannot be checked: searching them for the patterns of the schema takes too long";
const tooDeep = "the arguments cannot be checked: schema or values lead more than 400 levels deep";

// Other programs on the machine may cause a pause as well.
describe("a hostile schema", { retry: 2 }, () => {
	it.each<[string, unknown, unknown, string | null]>([
		["doubled 26 times", doubled(26), {}, tooManySteps],
		["that refers to itself", { $ref: "#" }, {}, tooDeep],
		["for nested values", { items: { $ref: "#" } }, nested(5000), tooDeep],
		[
			"doubled by the depth of the value",
			{
				anyOf: [
					{ type: "integer", maximum: 0 },
					{ type: "array", items: { $ref: "#" } },
					{ type: "array", items: { $ref: "#" } },
				],
			},
			nested(60),
			tooManySteps,
		],
		["with unique items", { uniqueItems: true }, numbers(50_000), null],
		["with patterns for many names", { patternProperties: { "^[a-z]{1,20}x": true } }, wide, tooMuchSearching],
		[
			"with a backtracking pattern",
			{ pattern: "^(a+)+$" },
			`${"a".repeat(20_000)}!`,
			'arguments must match pattern "^(a+)+$"',
		],
		["with a pattern for a megabyte", { pattern: "^(a+)+$" }, `${"a".repeat(1_000_000)}!`, tooMuchSearching],
		[
			"with a pattern of too many states",
			{ pattern: "(?:[aA]|[bB])*[aA][abAB]{900}c" },
			"ab".repeat(5000),
			tooMuchSearching,
		],
		[
			"with many searches in short texts",
			{ items: { pattern: "[ab]c" } },
			numbers(150_000).map(() => "ac"),
			tooMuchSearching,
		],
		[
			"that counts a megabyte often",
			{ allOf: numbers(1000).map(() => ({ minLength: 600_000 })) },
			"é".repeat(1_000_000),
			tooManySteps,
		],
		[
			"that looks for the rest of many",
			{ allOf: numbers(200).map((index) => ({ properties: { [`k${index}`]: true } })), unevaluatedProperties: false },
			wide,
			tooManySteps,
		],
		[
			"that lists the names of an object again and again",
			{ not: { anyOf: numbers(6000).map(() => ({ additionalProperties: false })) } },
			extremelyWide,
			null,
		],
		[
			"that names its names again and again",
			{ not: { anyOf: numbers(6000).map(() => ({ propertyNames: { maxLength: 0 } })) } },
			extremelyWide,
			null,
		],
		[
			"that compares what is long and deep",
			{ enum: [[1]] },
			numbers(390).reduce<unknown>((inner) => [inner, 1], "x".repeat(1_500_000)),
			tooManySteps,
		],
		[
			"of a long address that many build upon",
			{
				$id: `http://x/${"a".repeat(1_000_000)}/`,
				properties: Object.fromEntries(numbers(300).map((index) => [index, { $id: `${index}` }])),
			},
			1,
			"refused: schema/$id must be an address of at most 2000 characters, one of at most 2000 in the schema",
		],
		[
			"of too many addresses",
			{ $defs: { a: { $id: "/a" } }, allOf: numbers(4000).map(() => ({ $ref: "/a" })) },
			1,
			"refused: schema/allOf/2001/$ref is one of more than 2000 addresses, which are too many",
		],
		["of too many values", { enum: numbers(20_000) }, 1, "refused: schema has more than 20,000 values"],
		[
			"of too many characters",
			{ description: "a".repeat(2_000_001) },
			1,
			"refused: schema has more than 2,000,000 characters",
		],
		[
			"of too many patterns",
			{ allOf: numbers(501).map((index) => ({ pattern: String(index) })) },
			1,
			"refused: schema has more than 500 patterns",
		],
		[
			"of patterns that are too large",
			{ allOf: numbers(20).map((index) => ({ pattern: `a{4900}${index}` })) },
			1,
			"refused: schema/allOf/10/pattern is one pattern too many: together they are too large",
		],
	])("%s is checked in bounded time", async (_, schema, value, expected) => {
		// What is loaded for the first one is no work of it.
		await check({ pattern: "a" }, "a");
		let result: string | null = "";
		const pause = await shortestPause(async () => {
			result = await check(schema, value);
		});
		expect(result).toBe(expected);
		expect(pause).toBeLessThan(longestPause);
	});

	it("is refused when it nests too deeply", async () => {
		const schema = Array.from({ length: 60 }).reduce<object>((inner) => ({ allOf: [inner] }), {});
		expect(await check(schema, 1)).toMatch(/^refused: schema(\/allOf\/0){20}.*… is nested more than 100 levels deep$/);
	});

	it("does not block the event loop, however many run concurrently", async () => {
		const pause = await shortestPause(() => Promise.all(numbers(8).map(() => check(doubled(26), {}))));
		expect(pause).toBeLessThan(longestPause);
	});
});

describe("a schema", () => {
	it.each<[unknown, string]>([
		[
			{ properties: { a: { pattern: "(a)\\1" } } },
			'schema/properties/a/pattern has a pattern that cannot be used, "(a)\\1": it refers back to a group with "\\1"',
		],
		[
			{ patternProperties: { "(?<=a)b": true } },
			'schema/patternProperties/(?<=a)b has a pattern that cannot be used, "(?<=a)b": it has a condition on what comes before ("(?<="), which is not supported',
		],
		[
			{ $ref: "https://example.com/x.json" },
			'schema/$ref leads to nothing in the schema: "https://example.com/x.json"',
		],
		[
			{ properties: { a: { type: "text" } } },
			"schema/properties/a/type must be one of string, number, integer, boolean, array, object, null, or an array of some of them",
		],
		[{ required: ["a", "a"] }, "schema/required must be array of different strings"],
		[{ minLength: -1 }, "schema/minLength must be an integer >= 0"],
		[{ anyOf: [] }, "schema/anyOf must be array of schemas, at least one"],
		[{ items: [{}] }, "schema/items must be object,boolean"],
	])("%j is refused with path and reason", async (schema, reason) => {
		expect(await check(schema, {})).toBe(`refused: ${reason}`);
	});

	it.each<[unknown, unknown, string | null]>([
		[{ type: "string", nullable: true }, null, null],
		[{ type: ["string", "null"] }, 1, "arguments must be string,null"],
		[{ required: ["a"] }, {}, "arguments must have required property 'a'"],
		[{ properties: { "a/b": { minimum: 1 } } }, { "a/b": 0 }, "arguments/a~1b must be >= 1"],
		[{ additionalProperties: false }, { a: 1 }, "arguments must NOT have additional properties: 'a'"],
		[{ multipleOf: 0.1 }, 0.3, null],
		[{ multipleOf: 0.1 }, 0.35, "arguments must be multiple of 0.1"],
		[
			{ anyOf: [{ type: "string" }, { type: "null" }] },
			1,
			"arguments must be string, arguments must be null, arguments must match a schema in anyOf",
		],
		[{ not: { required: ["a"] } }, { a: 1 }, "arguments must NOT be valid"],
		[{ maxLength: 2 }, "😀😀", null],
		[{ maxLength: 1 }, "😀😀", "arguments must NOT have more than 1 characters"],
		[{ format: "email" }, "nobody", null],
		[{ $ref: "https://json-schema.org/draft/2020-12/schema" }, { type: "object" }, null],
		[
			{ properties: { ["__proto__"]: { type: "string" } } },
			JSON.parse('{"__proto__": 1}'),
			"arguments/__proto__ must be string",
		],
		[
			{ uniqueItems: true },
			[
				{ a: 1, b: 2 },
				{ b: 2, a: 1 },
			],
			"arguments must NOT have duplicate items (items ## 0 and 1 are identical)",
		],
		[{ $dynamicRef: "#x", $defs: { x: { $dynamicAnchor: "x", type: "string" } } }, 1, "arguments must be string"],
		[false, 1, "arguments boolean schema is false"],
	])("%j against %j: %s", async (schema, value, expected) => {
		expect(await check(schema, value)).toBe(expected);
	});
});

describe("any schema", () => {
	const name = fc.constantFrom("a", "b", "c");
	const number = fc.integer({ min: -2, max: 4 });
	const count = fc.integer({ min: 0, max: 3 });
	const { value } = fc.letrec<{ value: unknown }>((tie) => ({
		value: fc.oneof(
			{ maxDepth: 3, depthSize: "small" },
			fc.constantFrom<unknown>(null, true, false, 0, 1, 1.5, -2, "", "a", "ab", "abc"),
			fc.array(tie("value"), { maxLength: 3 }),
			fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
		),
	}));
	const types = fc.constantFrom("string", "number", "integer", "boolean", "array", "object", "null");
	const schemaOf = (draft: Draft) =>
		fc.letrec<{ schema: unknown }>((tie) => {
			const schema = tie("schema");
			const some = fc.array(schema, { minLength: 1, maxLength: 2 });
			const byName = fc.dictionary(name, schema, { maxKeys: 2, noNullPrototype: true });
			const shared = {
				type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
				enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (item) => JSON.stringify(item) }),
				const: value,
				minimum: number,
				exclusiveMaximum: number,
				multipleOf: fc.constantFrom(1, 2, 0.5),
				minLength: count,
				maxLength: count,
				pattern: fc.constantFrom("^a", "b$", "^[ab]+$", "\\d"),
				minItems: count,
				maxItems: count,
				uniqueItems: fc.boolean(),
				minProperties: count,
				maxProperties: count,
				required: fc.uniqueArray(name, { maxLength: 2 }),
				properties: byName,
				patternProperties: fc.dictionary(fc.constantFrom("^a", "[bc]"), schema, { maxKeys: 2, noNullPrototype: true }),
				additionalProperties: schema,
				propertyNames: schema,
				contains: schema,
				not: schema,
				if: schema,
				else: schema,
				allOf: some,
				anyOf: some,
				oneOf: some,
				$ref: fc.constantFrom("#/definitions/a", "#/definitions/b"),
			};
			const keywords =
				draft === "older"
					? { ...shared, items: fc.oneof(schema, some), additionalItems: schema }
					: {
							...shared,
							prefixItems: some,
							items: schema,
							minContains: count,
							maxContains: count,
							dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), {
								maxKeys: 2,
								noNullPrototype: true,
							}),
							dependentSchemas: byName,
							unevaluatedItems: schema,
							unevaluatedProperties: schema,
						};
			// Most objects have few of them, or nothing would ever fit.
			const few = fc
				.subarray(Object.entries(keywords), { minLength: 1, maxLength: 3 })
				.chain((chosen) => fc.record(Object.fromEntries<fc.Arbitrary<unknown>>(chosen), { noNullPrototype: true }));
			return { schema: fc.oneof({ maxDepth: 4, depthSize: "small", withCrossShrink: true }, fc.boolean(), few) };
		}).schema;
	const definitions = fc.constant({ a: { type: ["string", "array"] }, b: { properties: { a: { type: "integer" } } } });

	it.each<[Draft, () => Ajv]>([
		["newest", () => new Ajv2020({ strict: false, validateFormats: false, logger: false })],
		["older", () => new Ajv({ strict: false, validateFormats: false, logger: false })],
	])("of the %s draft is checked like the reference implementation checks it", async (draft, create) => {
		const validator = create();
		await fc.assert(
			fc.asyncProperty(schemaOf(draft), definitions, value, async (inner, defined, given) => {
				const schema = { allOf: [inner], definitions: defined };
				const expected = validator.validate(schema, given);
				validator.removeSchema(schema);
				const result = await check(schema, given, draft);
				expect([result === null, result]).toEqual([expected, result]);
			}),
			// Always the same cases: in rare ones the reference implementation takes an empty list for one that contains something.
			{ numRuns: 400, seed: 7 },
		);
	});
});
