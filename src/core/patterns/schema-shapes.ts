import { isObject, jsonTypes } from "./schema-assertions.ts";

/** Drafts up to 7, or 2020-12, the default. */
export type Draft = "older" | "newest";

type Shape =
	| "schema"
	| "schemas"
	| "schemas-by-name"
	/** One schema, or one per item. */
	| "items"
	/** A schema or a name list, by name. */
	| "dependencies"
	| "text"
	| "texts"
	| "texts-by-name"
	| "types"
	| "flag"
	| "number"
	| "positive"
	/** A non-negative count. */
	| "count"
	| "list";

const shared: Readonly<Record<string, Shape>> = {
	$id: "text",
	$ref: "text",
	$comment: "text",
	title: "text",
	description: "text",
	format: "text",
	pattern: "text",
	readOnly: "flag",
	writeOnly: "flag",
	examples: "list",
	contentMediaType: "text",
	contentEncoding: "text",
	type: "types",
	enum: "list",
	multipleOf: "positive",
	minimum: "number",
	maximum: "number",
	exclusiveMinimum: "number",
	exclusiveMaximum: "number",
	minLength: "count",
	maxLength: "count",
	minItems: "count",
	maxItems: "count",
	minProperties: "count",
	maxProperties: "count",
	uniqueItems: "flag",
	required: "texts",
	definitions: "schemas-by-name",
	properties: "schemas-by-name",
	patternProperties: "schemas-by-name",
	additionalProperties: "schema",
	propertyNames: "schema",
	dependencies: "dependencies",
	contains: "schema",
	not: "schema",
	if: "schema",
	else: "schema",
	allOf: "schemas",
	anyOf: "schemas",
	oneOf: "schemas",
};

const shapes: Readonly<Record<Draft, ReadonlyMap<string, Shape>>> = {
	older: new Map([
		...Object.entries<Shape>(shared),
		["then", "schema"],
		["items", "items"],
		["additionalItems", "schema"],
	]),
	newest: new Map([
		...Object.entries<Shape>(shared),
		["then", "schema"],
		["$anchor", "text"],
		["$dynamicAnchor", "text"],
		["$dynamicRef", "text"],
		["$defs", "schemas-by-name"],
		["deprecated", "flag"],
		["contentSchema", "schema"],
		["minContains", "count"],
		["maxContains", "count"],
		["dependentRequired", "texts-by-name"],
		["dependentSchemas", "schemas-by-name"],
		["prefixItems", "schemas"],
		["items", "schema"],
		["unevaluatedItems", "schema"],
		["unevaluatedProperties", "schema"],
	]),
};

const isSchema = (value: unknown) => typeof value === "boolean" || isObject(value);
const isTexts = (value: unknown) =>
	Array.isArray(value) && value.every((text) => typeof text === "string") && new Set(value).size === value.length;
const isType = (value: unknown) => jsonTypes.some((type) => type === value);
const isByName = (value: unknown, accepts: (item: unknown) => boolean) =>
	isObject(value) && Object.values(value).every(accepts);

const rules: Readonly<Record<Shape, readonly [accepts: (value: unknown) => boolean, fault: string]>> = {
	schema: [isSchema, "must be object,boolean"],
	schemas: [
		(value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
		"must be array of schemas, at least one",
	],
	"schemas-by-name": [(value) => isByName(value, isSchema), "must be object with a schema for each name"],
	items: [
		(value) => isSchema(value) || (Array.isArray(value) && value.length > 0 && value.every(isSchema)),
		"must be object,boolean or array of schemas",
	],
	dependencies: [
		(value) => isByName(value, (item) => isSchema(item) || isTexts(item)),
		"must be object with a schema, or different names, for each name",
	],
	text: [(value) => typeof value === "string", "must be string"],
	texts: [isTexts, "must be array of different strings"],
	"texts-by-name": [(value) => isByName(value, isTexts), "must be object with different strings for each name"],
	types: [
		(value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType) && isTexts(value)),
		`must be one of ${jsonTypes.join(", ")}, or an array of some of them`,
	],
	flag: [(value) => typeof value === "boolean", "must be boolean"],
	number: [(value) => typeof value === "number", "must be number"],
	positive: [(value) => typeof value === "number" && value > 0, "must be a number > 0"],
	count: [(value) => typeof value === "number" && Number.isInteger(value) && value >= 0, "must be an integer >= 0"],
	list: [(value) => Array.isArray(value), "must be array"],
};

/** The fault in a keyword's value; null if the value is valid or the keyword unknown. */
export function keywordFault(draft: Draft, keyword: string, value: unknown): string | null {
	const shape = shapes[draft].get(keyword);
	if (shape === undefined) return null;
	const [accepts, fault] = rules[shape];
	return accepts(value) ? null : fault;
}

export function schemasBelow(
	draft: Draft,
	keyword: string,
	value: unknown,
): (readonly [keys: readonly (string | number)[], schema: unknown])[] {
	switch (shapes[draft].get(keyword)) {
		case "schema":
			return [[[], value]];
		case "items":
			return Array.isArray(value) ? value.map((item, index) => [[index], item]) : [[[], value]];
		case "schemas":
			return Array.isArray(value) ? value.map((item, index) => [[index], item]) : [];
		case "schemas-by-name":
		case "dependencies":
			return isObject(value)
				? Object.entries(value).flatMap(([name, item]) => (Array.isArray(item) ? [] : [[[name], item] as const]))
				: [];
		default:
			return [];
	}
}
