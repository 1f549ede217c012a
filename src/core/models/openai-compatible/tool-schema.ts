import { isRecord } from "../../../base/json.ts";

type Schema = Readonly<Record<string, unknown>>;

// These keywords define the type elsewhere, and an additional type is refused.
const typedElsewhere = ["type", "$ref", "anyOf", "oneOf", "allOf", "not"];
const mapsOfSchemas: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const listsOfSchemas: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const schemas: ReadonlySet<string> = new Set(["items", "additionalProperties", "not"]);

const typeByKeyword: readonly (readonly [keyword: string, type: string])[] = [
	["properties", "object"],
	["additionalProperties", "object"],
	["required", "object"],
	["items", "array"],
	["prefixItems", "array"],
	["minItems", "array"],
	["maxItems", "array"],
	["minimum", "number"],
	["maximum", "number"],
	["multipleOf", "number"],
];

/** A copy in which each schema without a type gets the one suggested by its keywords or values, else `string`. */
export function fillTypes(schema: Schema): Schema {
	const filled = Object.fromEntries(
		Object.entries(schema).map(([keyword, value]) => [keyword, fillBelow(keyword, value)]),
	);
	return typedElsewhere.some((keyword) => Object.hasOwn(schema, keyword))
		? filled
		: { type: suggestedType(schema), ...filled };
}

function fillBelow(keyword: string, value: unknown): unknown {
	if (schemas.has(keyword)) return fillIfSchema(value);
	if (listsOfSchemas.has(keyword) && Array.isArray(value)) return value.map(fillIfSchema);
	if (mapsOfSchemas.has(keyword) && isRecord(value)) {
		return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, fillIfSchema(entry)]));
	}
	return value;
}

function fillIfSchema(value: unknown): unknown {
	return isRecord(value) ? fillTypes(value) : value;
}

function suggestedType(schema: Schema): string {
	const values = Array.isArray(schema["enum"])
		? schema["enum"]
		: Object.hasOwn(schema, "const")
			? [schema["const"]]
			: [];
	const types = new Set(values.map(typeOfValue));
	const [only] = types;
	if (types.size === 1 && only !== undefined) return only;
	return typeByKeyword.find(([keyword]) => Object.hasOwn(schema, keyword))?.[1] ?? "string";
}

function typeOfValue(value: unknown): string {
	if (value === null) return "null";
	if (Array.isArray(value)) return "array";
	if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
	return typeof value === "boolean" || typeof value === "object" ? typeof value : "string";
}
